import type { EntityManager, EntityName } from '@mikro-orm/postgresql';
import type { RequestContext } from '../../../context.js';
import { BackupCode } from '../../../entities/identity/backup-code.js';
import { MfaSetup } from '../../../entities/identity/mfa-setup.js';
import { TotpFactor } from '../../../entities/identity/totp-factor.js';
import { WebauthnCredential } from '../../../entities/identity/webauthn-credential.js';
import { conflict, notFound } from '../../../errors.js';
import { auditSource, recordAudit } from '../../audit/index.js';
import { renewBackupCodes } from './backup-codes.js';
import { type MfaMethod, mfaMethods, mfaMethodsOf } from './mfa-methods.js';
import { ownAccount } from './own-account.js';

const tables: Readonly<Record<MfaMethod, EntityName<{ userId: string }>>> = {
  totp: TotpFactor,
  webauthn: WebauthnCredential,
  backup_codes: BackupCode,
};

/** All authenticators, for webauthn. With the last factor the backup codes go too. @throws NOT_FOUND */
export async function removeMfa(context: RequestContext, given: string): Promise<void> {
  const method = mfaMethods.find((known) => known === given);
  const { id: userId } = await ownAccount(context);
  if (method === undefined) throw notFound('mfa_method', given);
  await context.em.fork().transactional(async (em) => {
    if ((await em.nativeDelete(tables[method], { userId })) === 0) throw notFound('mfa_method', method);
    if (method !== 'backup_codes') await em.nativeDelete(MfaSetup, { userId, method });
    if ((await mfaMethodsOf(em, userId)).length === 0) await em.nativeDelete(BackupCode, { userId });
    await audit(context, em, userId, 'auth.mfa_disabled', { method });
  });
}

/** @throws CONFLICT without a factor they could stand in for */
export async function regenerateBackupCodes(context: RequestContext): Promise<{ backupCodes: string[] }> {
  const user = await ownAccount(context);
  return context.em.fork().transactional(async (em) => {
    if ((await mfaMethodsOf(em, user.id)).length === 0)
      throw conflict('Backup codes stand in for another factor: set one up first', {
        method: 'backup_codes',
      });
    const backupCodes = await renewBackupCodes(em, context.services.secrets, user);
    await audit(context, em, user.id, 'auth.mfa_backup_codes_regenerated', null);
    return { backupCodes };
  });
}

function audit(
  context: RequestContext,
  em: EntityManager,
  userId: string,
  action: `auth.${string}`,
  after: object | null,
): Promise<void> {
  return recordAudit(em, { ...auditSource(context), action, resource: { type: 'user', id: userId }, after });
}
