import { redactSecrets } from '../../redact.js';
import type { ConnectionDefinition } from './connection-input.js';

const MAX_LENGTH = 500;

/** Why a system could not be reached, in its own words but without any of the credentials. */
export function explained(
  error: unknown,
  { credentials }: Pick<ConnectionDefinition, 'credentials'>,
): string {
  const secrets = Object.entries(credentials).flatMap(([name, secret]) =>
    name === 'username' || secret === undefined ? [] : [String(secret)],
  );
  return redactSecrets(wordsOf(error), secrets).slice(0, MAX_LENGTH);
}

/** `fetch failed` says it in its cause, a name with several addresses in the first of its errors. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'There was no answer in time.';
  if (error instanceof AggregateError && error.errors.length > 0) return wordsOf(error.errors[0]);
  // A file system's error ends in a path of the server's own, which is not for who sees the connection.
  if ('path' in error) return error.message.replace(/, \w+ '.*'$/s, '.');
  if (error.message === 'fetch failed' && error.cause !== undefined) return wordsOf(error.cause);
  return error.message || error.name;
}
