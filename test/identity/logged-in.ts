import type { RequestContext } from '../../src/context.js';
import { type Credentials, type LoggedIn, login } from '../../src/domain/identity/index.js';

/** Of a user without a second factor. */
export async function loggedIn(context: RequestContext, credentials: Credentials): Promise<LoggedIn> {
  const outcome = await login(context, credentials);
  if ('mfaRequired' in outcome) throw new Error('a second factor is due');
  return outcome;
}
