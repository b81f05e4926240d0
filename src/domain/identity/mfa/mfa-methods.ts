import type { EntityManager } from '@mikro-orm/postgresql';

/** ITSM document, MFA challenge. */
export const mfaMethods = ['totp', 'webauthn', 'backup_codes'] as const;
export type MfaMethod = (typeof mfaMethods)[number];

/** With which a user can meet a challenge now; empty without any factor, since backup codes alone are none. */
export async function mfaMethodsOf(em: EntityManager, userId: string): Promise<MfaMethod[]> {
  const [has] = await em.execute<Record<MfaMethod, boolean>[]>(
    `select exists (select from totp_factor where user_id = ?) as totp,
       exists (select from webauthn_credential where user_id = ?) as webauthn,
       exists (select from backup_code where user_id = ?) as backup_codes`,
    [userId, userId, userId],
  );
  if (!has?.totp && !has?.webauthn) return [];
  return mfaMethods.filter((method) => has[method]);
}
