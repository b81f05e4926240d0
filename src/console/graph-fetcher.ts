import type { GraphiQLProps } from 'graphiql';
import { getOperationAST, parse } from 'graphql';
import { createClient } from 'graphql-ws';
import { authorization } from './session-token.js';

type Fetcher = GraphiQLProps['fetcher'];

/** Queries and mutations over HTTP, subscriptions over graphql-ws, both on the same path and with the tab's token. */
export function createGraphFetcher(endpoint: string): Fetcher {
  const socket = createClient({
    url: new URL(endpoint, location.href).href.replace(/^http/, 'ws'),
    // The socket closes with its last subscription, so the next one connects with the token of that moment.
    lazy: true,
    connectionParams: () => {
      const value = authorization();
      return value === undefined ? {} : { authorization: value };
    },
    retryAttempts: 5,
  });

  return (request, options) => {
    if (isSubscription(request.query, request.operationName))
      return socket.iterate(request) as ReturnType<Fetcher>;
    return post(endpoint, request, options?.headers);
  };
}

/** GraphiQL's own documentAST lags behind what was just typed. The server says what is wrong with a bad document. */
function isSubscription(query: string, operationName: string | null | undefined): boolean {
  try {
    return getOperationAST(parse(query), operationName)?.operation === 'subscription';
  } catch {
    return false;
  }
}

async function post(
  endpoint: string,
  request: unknown,
  headers: Record<string, string> = {},
): Promise<object> {
  const value = authorization();
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json',
      ...(value !== undefined && { authorization: value }),
      ...headers,
    },
    body: JSON.stringify(request),
  });
  return response.json();
}
