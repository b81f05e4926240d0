import { type EntityManager, UniqueConstraintViolationException } from '@mikro-orm/postgresql';
import { z } from 'zod';
import type { RequestContext } from '../../../context.js';
import { MfaSetup } from '../../../entities/identity/mfa-setup.js';
import { TotpFactor } from '../../../entities/identity/totp-factor.js';
import type { User } from '../../../entities/identity/user.js';
import { WebauthnCredential } from '../../../entities/identity/webauthn-credential.js';
import { AppError, conflict, invalidField } from '../../../errors.js';
import { auditSource, recordAudit } from '../../audit/index.js';
import { validate } from '../../validate.js';
import { answerFields, attestationShape } from './answer-shape.js';
import { renewBackupCodes } from './backup-codes.js';
import { ownAccount } from './own-account.js';
import { newTotpSecret, otpauthUri, totpStep } from './totp.js';
import { creationOptions, credentialsOf, MAX_CREDENTIALS, verifyAttestation } from './webauthn.js';

/** How long a QR code may be looked at. */
const SETUP_MS = 15 * 60_000;

const setupMethods = ['totp', 'webauthn'] as const;

/** Of one method only: the others are null. */
export interface MfaOffer {
  secret: string | null;
  otpauthUri: string | null;
  creationOptions: object | null;
}

/** Offers a factor; nothing asks for it before it is confirmed. @throws VALIDATION_ERROR, CONFLICT */
export async function setUpMfa(context: RequestContext, given: { method: string }): Promise<MfaOffer> {
  const { method } = validate(z.object({ method: z.enum(setupMethods) }), given);
  const user = await ownAccount(context);
  const em = context.em.fork();
  if (method === 'totp') {
    if (await em.findOne(TotpFactor, { userId: user.id }))
      throw conflict('An authenticator app is set up already: remove it first', { method });
    const secret = newTotpSecret();
    await offer(context, em, user, method, secret);
    return { secret, otpauthUri: otpauthUri(secret, user.email), creationOptions: null };
  }
  const known = await credentialsOf(em, user.id);
  if (known.length >= MAX_CREDENTIALS)
    throw conflict(`There are ${MAX_CREDENTIALS} authenticators already: remove them first`, { method });
  const options = await creationOptions(context.services.config, user, known, SETUP_MS);
  await offer(context, em, user, method, options.challenge);
  return { secret: null, otpauthUri: null, creationOptions: options };
}

/** An earlier offer that was not confirmed is forgotten. */
async function offer(
  { services }: RequestContext,
  em: EntityManager,
  { id: userId, organizationId }: User,
  method: MfaSetup['method'],
  secret: string,
): Promise<void> {
  const expiresAt = new Date(services.now().getTime() + SETUP_MS);
  await em.upsert(
    MfaSetup,
    { userId, method, organizationId, sealed: services.secrets.seal(secret), expiresAt },
    { onConflictFields: ['userId', 'method'] },
  );
}

const confirmation = z.object({
  method: z.enum(setupMethods).nullish(),
  code: answerFields.code.nullish(),
  attestation: attestationShape.nullish(),
});

export type MfaConfirmation = { method?: string | null; code?: string | null; attestation?: unknown };

/**
 * From now on a login asks for a second factor. The backup codes are new with every factor.
 * @throws VALIDATION_ERROR, AUTHENTICATION_ERROR for a wrong answer, CONFLICT when nothing was offered
 */
export async function confirmMfa(
  context: RequestContext,
  given: MfaConfirmation,
): Promise<{ backupCodes: string[] }> {
  const { method, code, attestation } = confirmed(given);
  const user = await ownAccount(context);
  const { services } = context;
  const where = { userId: user.id, method, expiresAt: { $gt: services.now() } };
  const setup = await context.em.fork().findOne(MfaSetup, where);
  if (!setup) throw nothingOffered(method);
  const offered = services.secrets.open(setup.sealed);
  const store = attestation
    ? await webauthnProof(context, user, offered, attestation)
    : totpProof(context, user, offered, code);
  return context.em.fork().transactional(async (em) => {
    // Of two confirmations at once, one finds the offer.
    const taken = await em.nativeDelete(MfaSetup, { ...where, sealed: setup.sealed });
    if (taken === 0) throw nothingOffered(method);
    await store(em).catch((error: unknown) => {
      if (error instanceof UniqueConstraintViolationException)
        throw conflict('This factor is set up already', { method });
      throw error;
    });
    const backupCodes = await renewBackupCodes(em, services.secrets, user);
    const resource = { type: 'user', id: user.id };
    await recordAudit(em, {
      ...auditSource(context),
      action: 'auth.mfa_enabled',
      resource,
      after: { method },
    });
    return { backupCodes };
  });
}

/** What is sent tells the method when it is not named. @throws VALIDATION_ERROR */
function confirmed(given: MfaConfirmation) {
  const { method: named, code, attestation } = validate(confirmation, given);
  const method = named ?? (attestation ? 'webauthn' : 'totp');
  if (method === 'totp' && code == null) throw invalidField('code', 'isDefined', 'code is required');
  if (method === 'webauthn' && attestation == null)
    throw invalidField('attestation', 'isDefined', 'attestation is required');
  return { method, code: code ?? '', attestation: method === 'webauthn' ? attestation : null };
}

type Store = (em: EntityManager) => Promise<void>;

function totpProof({ services }: RequestContext, user: User, secret: string, code: string): Store {
  const lastStep = totpStep(secret, code, services.now());
  if (lastStep === undefined) throw wrong();
  const sealedSecret = services.secrets.seal(secret);
  return async (em) => {
    const { id: userId, organizationId } = user;
    await em.insert(TotpFactor, {
      userId,
      organizationId,
      sealedSecret,
      lastStep,
      createdAt: services.now(),
    });
  };
}

async function webauthnProof(
  { services }: RequestContext,
  { id: userId, organizationId }: User,
  challenge: string,
  attestation: z.output<typeof attestationShape>,
): Promise<Store> {
  const credential = await verifyAttestation(services.config, challenge, attestation);
  if (!credential) throw wrong();
  return async (em) => {
    await em.insert(WebauthnCredential, { ...credential, userId, organizationId, createdAt: services.now() });
  };
}

function wrong(): AppError {
  return new AppError('AUTHENTICATION_ERROR', 'The answer does not prove the new factor');
}

function nothingOffered(method: string): AppError {
  return conflict('No such factor waits for its confirmation: set it up first', { method });
}
