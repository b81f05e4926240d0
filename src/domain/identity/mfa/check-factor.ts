import type { EntityManager } from '@mikro-orm/postgresql';
import type { Services } from '../../../context.js';
import type { MfaChallenge } from '../../../entities/identity/mfa-challenge.js';
import { TotpFactor } from '../../../entities/identity/totp-factor.js';
import { WebauthnCredential } from '../../../entities/identity/webauthn-credential.js';
import { backupCodeHash, useBackupCode } from './backup-codes.js';
import type { MfaMethod } from './mfa-methods.js';
import { totpStep } from './totp.js';
import { type Assertion, verifyAssertion } from './webauthn.js';

export interface Answer {
  method: MfaMethod;
  code: string;
  assertion: Assertion | undefined;
}

type Needs = Pick<Services, 'orm' | 'now' | 'secrets' | 'config'>;

/** Marks a right answer as used; false when somebody was first with the same one. To run with what it pays for. */
export type Use = (em: EntityManager) => Promise<boolean>;

type Check = (services: Needs, challenge: MfaChallenge, answer: Answer) => Promise<Use | undefined>;

/** Undefined for a wrong answer, and for a factor the user does not have. */
export const checkFactor: Readonly<Record<MfaMethod, Check>> = {
  async totp({ orm, secrets, now }, { userId }, { code }) {
    const factor = await orm.em.fork().findOne(TotpFactor, { userId }, { filters: false });
    const step = factor ? totpStep(secrets.open(factor.sealedSecret), code, now()) : undefined;
    if (step === undefined) return undefined;
    return async (em) => {
      const unused = { userId, lastStep: { $lt: step } };
      return (await em.nativeUpdate(TotpFactor, unused, { lastStep: step }, { filters: false })) === 1;
    };
  },

  async webauthn({ orm, config }, { userId, assertionChallenge }, { assertion }) {
    if (assertion === undefined || assertionChallenge === null) return undefined;
    const { id } = assertion;
    const credential = await orm.em.fork().findOne(WebauthnCredential, { id, userId }, { filters: false });
    if (!credential) return undefined;
    const counter = await verifyAssertion(config, assertionChallenge, credential, assertion);
    if (counter === undefined) return undefined;
    return async (em) => {
      const unchanged = { id, userId, counter: credential.counter };
      return (await em.nativeUpdate(WebauthnCredential, unchanged, { counter }, { filters: false })) === 1;
    };
  },

  async backup_codes({ secrets }, { userId }, { code }) {
    const hash = backupCodeHash(secrets, userId, code);
    return (em) => useBackupCode(em, userId, hash);
  },
};
