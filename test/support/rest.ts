import { rememberSecrets } from './run-log.js';

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect of it
  body: any;
}

export type Call = (
  method: string,
  path: string,
  body?: unknown,
  more?: Record<string, string>,
) => Promise<Answer>;

/** Calls REST (and POST /graphql) with one credential. A body is sent as JSON. */
export function caller(url: string, credential: Record<string, string> = {}): Call {
  return async (method, path, body, more = {}) => {
    const headers = {
      ...credential,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...more,
    };
    const response = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const answer = text === '' ? undefined : JSON.parse(text);
    rememberSecrets(body);
    rememberSecrets(answer);
    return { status: response.status, headers: response.headers, body: answer };
  };
}
