import './monaco-workers.js';
import 'graphiql/style.css';
import './explorer.css';
import { GraphiQL } from 'graphiql';
import { type ReactNode, StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { createGraphFetcher } from './graph-fetcher.js';
import { SignIn } from './sign-in.js';

const WELCOME = `# Opsgraph: IT service management and data integration in one graph.
# Ctrl-Space completes, Ctrl-Enter runs. Log in above first; subscriptions run over graphql-ws.
{
  __typename
}
`;

interface ExplorerProps {
  endpoint: string;
  loginPath: string | undefined;
}

function Explorer({ endpoint, loginPath }: ExplorerProps): ReactNode {
  const [fetcher] = useState(() => createGraphFetcher(endpoint));
  // A new token may see another schema answer (introspection off, expired): a new key asks again.
  const [session, setSession] = useState(0);
  return (
    <>
      <SignIn loginPath={loginPath} onChange={() => setSession((count) => count + 1)} />
      <main>
        <GraphiQL key={session} fetcher={fetcher} defaultQuery={WELCOME} shouldPersistHeaders={false} />
      </main>
    </>
  );
}

const root = document.getElementById('explorer');
if (!root) throw new Error('The page has no place for the explorer');
createRoot(root).render(
  <StrictMode>
    <Explorer endpoint={root.dataset['endpoint'] ?? '/graphql'} loginPath={root.dataset['loginPath']} />
  </StrictMode>,
);
