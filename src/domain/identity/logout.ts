import { itsmUser, type RequestContext } from '../../context.js';
import { atHome } from './cross-tenant.js';
import { revokeSessions } from './revoke-sessions.js';

export interface LoggedOut {
  revoked: boolean;
  sessionsTerminated: number;
  message: string;
}

/** Ends every session of the caller, the present one included (ITSM document, Tokens and login). */
export async function logout(context: RequestContext): Promise<LoggedOut> {
  const { userId } = itsmUser(context);
  const sessionsTerminated = await revokeSessions(atHome(context), { userId }, 'auth.logged_out');
  context.client?.authCookie?.clear();
  return { revoked: true, sessionsTerminated, message: 'All active sessions were revoked' };
}
