import type { Services } from '../../context.js';
import { RevokedToken } from '../../entities/identity/revoked-token.js';
import { Session } from '../../entities/identity/session.js';
import { ACCESS_TOKEN_SECONDS } from './token-lifetimes.js';

/** Clocks of two nodes may differ by this much, and so may commit and stamp of one revocation. */
const MARGIN_MS = 60_000;
/** After that no access token that was revoked, or whose session was, is alive: there is nothing left to refuse. */
export const REVOCATIONS_REMEMBERED_MS = ACCESS_TOKEN_SECONDS * 1_000 + MARGIN_MS;
/** The slow poll that makes up for a lost wake-up. */
const POLL_MS = 5_000;
export const SESSIONS_TOPIC = 'sessions';

/**
 * The sessions and single tokens revoked within the life of an access token, held in memory on every node: asking
 * costs no query. Revoking wakes the others, which read what is new.
 */
export interface Revocations {
  /** @throws when the database is away and nothing was read yet: nobody is let in unchecked. */
  ready(): Promise<void> | undefined;
  /** @param id of a session or, since neither can be the other, of a token */
  has(id: string): boolean;
  /** To be called after the commit that revoked them. */
  announce(ids: readonly string[]): void;
  close(): Promise<void>;
}

export function createRevocations(services: Pick<Services, 'orm' | 'wake' | 'now' | 'log'>): Revocations {
  const { orm, wake, now, log } = services;
  const revokedAt = new Map<string, number>();
  let readUpTo: number | undefined;
  let reading: Promise<void> | undefined;
  let again = false;

  async function read(): Promise<void> {
    const started = now().getTime();
    const since = new Date(Math.max(started - REVOCATIONS_REMEMBERED_MS, (readUpTo ?? 0) - MARGIN_MS));
    const em = orm.em.fork();
    const sessions = await em.find(
      Session,
      { revokedAt: { $gt: since } },
      { filters: false, fields: ['id', 'revokedAt'] },
    );
    const tokens = await em.find(RevokedToken, { revokedAt: { $gt: since } }, { filters: false });
    for (const row of sessions) revokedAt.set(row.id, row.revokedAt?.getTime() ?? started);
    for (const row of tokens) revokedAt.set(row.tokenId, row.revokedAt.getTime());
    for (const [id, at] of revokedAt) if (at < started - REVOCATIONS_REMEMBERED_MS) revokedAt.delete(id);
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
    refresh().catch((error: unknown) => log.debug({ err: error }, 'revocations could not be read'));
  };
  const stopListening = wake.on(SESSIONS_TOPIC, refreshLater);
  const poll = setInterval(refreshLater, POLL_MS).unref();

  return {
    ready: () => (readUpTo === undefined ? refresh() : undefined),
    has: (id) => revokedAt.has(id),
    announce(ids) {
      const at = now().getTime();
      for (const id of ids) revokedAt.set(id, at);
      if (ids.length > 0) wake.wake(SESSIONS_TOPIC);
    },
    async close() {
      clearInterval(poll);
      stopListening();
      await reading?.catch(() => undefined);
    },
  };
}
