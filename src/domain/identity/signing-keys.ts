import { setTimeout as delay } from 'node:timers/promises';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
} from 'jose';
import type { PublicJwk, Services } from '../../context.js';
import { SigningKey } from '../../entities/identity/signing-key.js';
import { recordAudit } from '../audit/index.js';
import { holdLock } from './advisory-lock.js';
import { RETIRED_KEYS_VERIFY_MS } from './token-lifetimes.js';

const ALGORITHM = 'RS256';
const MODULUS_BITS = 2048;
/** However many unknown key ids arrive, the table is read this often at most; who brought one waits for it. */
const RELOAD_INTERVAL_MS = 1_000;
/** A key retired elsewhere is noticed by then even when the wake-up was lost. */
const STALE_AFTER_MS = 600_000;
const TOPIC = 'signing-keys';
const purposes = ['itsm', 'oidc'] as const;

export interface SigningKeys {
  /** The key that signs now; made when there is none yet. */
  current(): Promise<{ kid: string; privateKey: CryptoKey }>;
  /** The key to verify with; undefined for a key this installation doesn't know or retired long ago. */
  verificationKey(kid: string): Promise<CryptoKey | undefined>;
  /** Newest first, retired ones included while their tokens may live. */
  publicJwks(): Promise<PublicJwk[]>;
  /** As `publicJwks`, with the private halves: for the embedded issuer alone. */
  privateJwks(): Promise<JWK[]>;
  /** The next token is signed with a fresh key; the one before goes on verifying. */
  rotate(): Promise<void>;
  /** Called when another node made or retired a key. Gives the way to stop listening. */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}

interface LoadedKeys {
  current: { kid: string; privateKey: CryptoKey } | undefined;
  verification: Map<string, CryptoKey>;
  rows: SigningKey[];
}

type Needs = Pick<Services, 'orm' | 'secrets' | 'wake' | 'now' | 'log'>;

export function createSigningKeys(services: Needs, purpose: SigningKey['purpose']): SigningKeys {
  const { secrets, wake, log } = services;
  const listeners = new Set<() => void>();
  const closing = new AbortController();
  let loaded: LoadedKeys | undefined;
  let loading: Promise<LoadedKeys> | undefined;
  let creating: Promise<void> | undefined;
  let attemptedAt = Number.NEGATIVE_INFINITY;

  function reload(): Promise<LoadedKeys> {
    loading ??= (async () => {
      const wait = attemptedAt + RELOAD_INTERVAL_MS - performance.now();
      if (wait > 0) await delay(wait, undefined, { signal: closing.signal });
      attemptedAt = performance.now();
      loaded = await loadKeys(services, purpose);
      return loaded;
    })().finally(() => {
      loading = undefined;
    });
    return loading;
  }

  function reloadLater(then?: () => void): void {
    reload().then(then, (error: unknown) => {
      if (!closing.signal.aborted) log.warn({ err: error }, 'signing keys could not be reloaded');
    });
  }

  /** Old ones are better than none: while the database is away, what they signed is still verified. */
  async function keys(): Promise<LoadedKeys> {
    if (loaded === undefined) return reload();
    if (loading === undefined && performance.now() - attemptedAt > STALE_AFTER_MS) reloadLater();
    return loaded;
  }

  async function create(isDue: IsDue): Promise<void> {
    await replaceKey(services, purpose, isDue);
    loaded = await loadKeys(services, purpose);
  }

  const stopListening = wake.on(TOPIC, () =>
    reloadLater(() => {
      for (const listener of listeners) listener();
    }),
  );

  return {
    async current() {
      const { current } = await keys();
      if (current) return current;
      creating ??= create((active) => active.length === 0).finally(() => {
        creating = undefined;
      });
      await creating;
      const made = (await keys()).current;
      if (!made) throw new Error(`No signing key for ${purpose} although one was just made`);
      return made;
    },
    async verificationKey(kid) {
      const known = (await keys()).verification.get(kid);
      return known ?? (await reload()).verification.get(kid);
    },
    async publicJwks() {
      await this.current();
      return (await keys()).rows.map((row) => row.publicJwk as unknown as PublicJwk);
    },
    async privateJwks() {
      await this.current();
      const { rows } = await keys();
      return rows.map((row) => JSON.parse(secrets.open(row.sealedPrivateJwk)) as JWK);
    },
    rotate: () => create(() => true),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      stopListening();
      listeners.clear();
      closing.abort();
      await loading?.catch(() => undefined);
    },
  };
}

type IsDue = (active: readonly SigningKey[]) => boolean;

/**
 * A fresh key in place of the active one, which goes on verifying. Of nodes that do so at once the second waits for the
 * lock and then finds the first's key: it is asked again whether one is due.
 */
async function replaceKey(
  { orm, secrets, now, wake }: Pick<Needs, 'orm' | 'secrets' | 'now' | 'wake'>,
  purpose: SigningKey['purpose'],
  isDue: IsDue,
): Promise<boolean> {
  const made = await orm.em.fork().transactional(async (em) => {
    await holdLock(em, `signing key ${purpose}`);
    const active = await em.find(SigningKey, { purpose, retiredAt: null });
    if (!isDue(active)) return false;
    for (const key of active) key.retiredAt = now();
    const fresh = await generate(secrets);
    em.persist(em.create(SigningKey, { ...fresh, purpose, createdAt: now() }));
    await em.flush();
    await recordAudit(em, {
      organizationId: null,
      actor: { type: 'system', id: null },
      action: 'signing_key.created',
      resource: { type: 'signing_key', id: fresh.kid },
      after: { purpose, retired: active.map((key) => key.kid) },
    });
    return true;
  });
  if (made) wake.wake(TOPIC);
  return made;
}

/**
 * Replaces the keys that have signed for long enough. A purpose that never needed a key gets none. Safe on any number
 * of nodes at any time.
 * @returns for which purposes there is a new key
 */
export async function rotateDueKeys(
  services: Pick<Needs, 'orm' | 'secrets' | 'now' | 'wake'>,
  maximumAgeMs: number,
): Promise<SigningKey['purpose'][]> {
  const madeBefore = services.now().getTime() - maximumAgeMs;
  const isDue: IsDue = (active) =>
    active.length > 0 && active.every((key) => key.createdAt.getTime() <= madeBefore);
  const rotated: SigningKey['purpose'][] = [];
  for (const purpose of purposes) {
    if (await replaceKey(services, purpose, isDue)) rotated.push(purpose);
  }
  return rotated;
}

async function loadKeys(
  { orm, secrets, now }: Pick<Needs, 'orm' | 'secrets' | 'now'>,
  purpose: SigningKey['purpose'],
): Promise<LoadedKeys> {
  const stillVerifies = new Date(now().getTime() - RETIRED_KEYS_VERIFY_MS);
  const rows = await orm.em
    .fork()
    .find(
      SigningKey,
      { purpose, $or: [{ retiredAt: null }, { retiredAt: { $gt: stillVerifies } }] },
      { orderBy: { retiredAt: 'desc nulls first', createdAt: 'desc' } },
    );
  const verification = new Map<string, CryptoKey>();
  for (const row of rows) verification.set(row.kid, await importKey(row.publicJwk));
  const newest = rows.find((row) => row.retiredAt === null);
  const current = newest && {
    kid: newest.kid,
    privateKey: await importKey(JSON.parse(secrets.open(newest.sealedPrivateJwk)) as JWK),
  };
  return { current, verification, rows };
}

async function importKey(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, ALGORITHM);
  if (key instanceof Uint8Array) throw new Error('A signing key is not an RSA key');
  return key;
}

async function generate(
  secrets: Needs['secrets'],
): Promise<Pick<SigningKey, 'kid' | 'publicJwk' | 'sealedPrivateJwk'>> {
  const pair = await generateKeyPair(ALGORITHM, { modulusLength: MODULUS_BITS, extractable: true });
  const publicHalf = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint(publicHalf);
  const named = { use: 'sig', alg: ALGORITHM, kid };
  return {
    kid,
    publicJwk: { ...publicHalf, ...named },
    sealedPrivateJwk: secrets.seal(JSON.stringify({ ...(await exportJWK(pair.privateKey)), ...named })),
  };
}
