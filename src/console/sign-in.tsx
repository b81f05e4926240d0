import { type FormEvent, type ReactNode, useState } from 'react';
import { sessionToken } from './session-token.js';

interface SignInProps {
  /** Where an e-mail address and a password buy a token; undefined offers only the token field. */
  loginPath: string | undefined;
  onChange(): void;
}

/** The bar above the explorer: a bearer token, or the login of the demo that fetches one. */
export function SignIn({ loginPath, onChange }: SignInProps): ReactNode {
  const [token, setToken] = useState(sessionToken.read);
  const apply = (next: string) => {
    sessionToken.write(next.trim());
    setToken(next);
    onChange();
  };
  return (
    <header className="sign-in">
      <label>
        Bearer token
        <input
          name="token"
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder="none: public operations only"
          value={token}
          onChange={(event) => apply(event.target.value)}
        />
      </label>
      {loginPath !== undefined && <DemoLogin path={loginPath} onToken={apply} />}
    </header>
  );
}

function DemoLogin({ path, onToken }: { path: string; onToken(token: string): void }): ReactNode {
  const [state, setState] = useState('');
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setState('Logging in');
    const form = new FormData(event.currentTarget);
    const answer = await logIn(path, String(form.get('email')), String(form.get('password')));
    setState(answer.message);
    if (answer.token !== undefined) onToken(answer.token);
  };
  return (
    <form onSubmit={submit}>
      <input name="email" type="email" aria-label="E-mail" placeholder="E-mail" required />
      <input name="password" type="password" aria-label="Password" placeholder="Password" required />
      <button type="submit">Log in</button>
      <output>{state}</output>
    </form>
  );
}

async function logIn(
  path: string,
  email: string,
  password: string,
): Promise<{ token?: string; message: string }> {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    const body = await response.json();
    if (!response.ok) return { message: body.error?.message ?? `Failed with ${response.status}` };
    if (typeof body.accessToken !== 'string') return { message: 'This account needs a second factor' };
    return { token: body.accessToken, message: `Logged in as ${email}` };
  } catch {
    return { message: 'The server did not answer' };
  }
}
