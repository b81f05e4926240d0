import { LRUCache } from 'lru-cache';
import type { ItsmPrincipal, Services } from '../../context.js';
import { Session } from '../../entities/identity/session.js';
import { AppError } from '../../errors.js';
import { recordAudit } from '../audit/index.js';

const REMEMBERED = 10_000;
/** How often one session's changed device is written into the audit log. */
const AUDITED_EVERY_MS = 60_000;

type Device = Pick<Session, 'deviceFingerprint'>;

/** An absent one, at login or now, is no anomaly: clients need not send it. @throws AUTHENTICATION_ERROR for another one */
export function requireSameDevice({ deviceFingerprint }: Device, sent: string | null | undefined): void {
  if (sent == null || deviceFingerprint === null || sent === deviceFingerprint) return;
  throw new AppError('AUTHENTICATION_ERROR', 'The device is not the one of the login: log in again');
}

export interface DeviceCheck {
  /** @throws AUTHENTICATION_ERROR when the session began on another device */
  require(caller: ItsmPrincipal, sent: string): Promise<void>;
}

/** A session's fingerprint never changes, so that a request that tells its own costs no query but the first. */
export function createDeviceCheck(services: Pick<Services, 'orm' | 'now' | 'log'>): DeviceCheck {
  const { orm, log } = services;
  const known = new LRUCache<string, Device>({ max: REMEMBERED });
  const audited = new LRUCache<string, true>({ max: REMEMBERED, ttl: AUDITED_EVERY_MS });

  async function deviceOf(sessionId: string): Promise<Device> {
    const device = known.get(sessionId);
    if (device) return device;
    const session = await orm.em
      .fork()
      .findOne(Session, { id: sessionId }, { filters: false, fields: ['deviceFingerprint'] });
    const read = { deviceFingerprint: session?.deviceFingerprint ?? null };
    known.set(sessionId, read);
    return read;
  }

  return {
    async require(caller, sent) {
      const device = await deviceOf(caller.sessionId);
      try {
        requireSameDevice(device, sent);
      } catch (error) {
        if (!audited.has(caller.sessionId)) {
          audited.set(caller.sessionId, true);
          await auditDevice(services, caller).catch((failure: unknown) =>
            log.error({ err: failure }, 'a changed device could not be written into the audit log'),
          );
        }
        throw error;
      }
    },
  };
}

export function auditDevice(
  { orm }: Pick<Services, 'orm'>,
  { organizationId, userId, sessionId }: Pick<ItsmPrincipal, 'organizationId' | 'userId' | 'sessionId'>,
): Promise<void> {
  return recordAudit(orm.em.fork(), {
    organizationId,
    actor: { type: 'user', id: userId },
    action: 'auth.device_changed',
    resource: { type: 'session', id: sessionId },
  });
}
