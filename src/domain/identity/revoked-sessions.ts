import type { Services } from '../../context.js';
import { Session } from '../../entities/identity/session.js';
import { ACCESS_TOKEN_SECONDS } from './token-lifetimes.js';

/** Clocks of two nodes may differ by this much, and so may commit and stamp of one revocation. */
const MARGIN_MS = 60_000;
/** After that no access token of the session is alive, so there is nothing left to refuse. */
const REMEMBERED_MS = ACCESS_TOKEN_SECONDS * 1_000 + MARGIN_MS;
/** The slow poll that makes up for a lost wake-up. */
const POLL_MS = 5_000;
const TOPIC = 'sessions';

/**
 * The sessions revoked within the life of an access token, held in memory on every node: asking costs no query.
 * Revoking wakes the others, which read what is new.
 */
export interface RevokedSessions {
  /** @throws when the database is away and nothing was read yet: nobody is let in unchecked. */
  ready(): Promise<void>;
  has(sessionId: string): boolean;
  /** To be called after the commit that revoked them. */
  announce(sessionIds: readonly string[]): void;
  close(): Promise<void>;
}

export function createRevokedSessions(
  services: Pick<Services, 'orm' | 'wake' | 'now' | 'log'>,
): RevokedSessions {
  const { orm, wake, now, log } = services;
  const revokedAt = new Map<string, number>();
  let readUpTo: number | undefined;
  let reading: Promise<void> | undefined;
  let again = false;

  async function read(): Promise<void> {
    const started = now().getTime();
    const since = Math.max(started - REMEMBERED_MS, (readUpTo ?? 0) - MARGIN_MS);
    const rows = await orm.em
      .fork()
      .find(
        Session,
        { revokedAt: { $gt: new Date(since) } },
        { filters: false, fields: ['id', 'revokedAt'] },
      );
    for (const row of rows) revokedAt.set(row.id, row.revokedAt?.getTime() ?? started);
    for (const [id, at] of revokedAt) if (at < started - REMEMBERED_MS) revokedAt.delete(id);
    readUpTo = started;
  }

  /** A wake-up during a read asks for another one: what it tells of may have come too late for the first. */
  function refresh(): Promise<void> {
    again = true;
    reading ??= readUntilCurrent();
    return reading;
  }

  async function readUntilCurrent(): Promise<void> {
    try {
      while (again) {
        again = false;
        await read();
      }
    } finally {
      reading = undefined;
    }
  }

  const refreshLater = () => {
    refresh().catch((error: unknown) => log.debug({ err: error }, 'revoked sessions could not be read'));
  };
  const stopListening = wake.on(TOPIC, refreshLater);
  const poll = setInterval(refreshLater, POLL_MS).unref();

  return {
    async ready() {
      if (readUpTo === undefined) await refresh();
    },
    has: (sessionId) => revokedAt.has(sessionId),
    announce(sessionIds) {
      const at = now().getTime();
      for (const id of sessionIds) revokedAt.set(id, at);
      if (sessionIds.length > 0) wake.wake(TOPIC);
    },
    async close() {
      clearInterval(poll);
      stopListening();
      await reading?.catch(() => undefined);
    },
  };
}
