import { LRUCache } from 'lru-cache';
import type { ItsmPrincipal, Services } from '../../../context.js';
import type { UserRole } from '../../../entities/identity/user.js';
import { AppError } from '../../../errors.js';
import { createLastUse } from '../last-use.js';
import { SESSIONS_TOPIC } from '../revocations.js';
import { implies, rolePermissions } from '../role-permissions.js';
import { apiKeyHash, isApiKey } from './api-key-secret.js';
import { writeKeyUse } from './api-key-use.js';

/** Woken after every change of a key. */
export const API_KEYS_TOPIC = 'api-keys';
/** A change whose wake-up was lost is noticed by then. */
const FRESH_MS = 5_000;
const REMEMBERED = 10_000;

type Needs = Pick<Services, 'orm' | 'wake' | 'now' | 'log'>;

export interface ApiKeyVerifier {
  /**
   * Who a key speaks for: its creator, with what is left of its permissions when they can do less by now.
   * @param tenantSlug of the organization that X-Tenant-Slug names
   * @throws AUTHENTICATION_ERROR, AUTHORIZATION_ERROR for another tenant's slug
   */
  verify(key: string, tenantSlug: string | undefined): Promise<ItsmPrincipal>;
  close(): Promise<void>;
}

interface KnownKey {
  principal: ItsmPrincipal;
  slug: string;
}

/**
 * A key's row, creator and organization are read once in 5 s and forgotten on every node as soon as a key or a session
 * changes on one of them.
 */
export function createApiKeyVerifier(services: Needs): ApiKeyVerifier {
  const { wake, now } = services;
  const known = new LRUCache<string, KnownKey>({ max: REMEMBERED, ttl: FRESH_MS });
  const uses = createLastUse(services, 'API keys', writeKeyUse);
  let generation = 0;

  function forget(): void {
    generation += 1;
    known.clear();
  }
  const stopListening = [API_KEYS_TOPIC, SESSIONS_TOPIC].map((topic) => wake.on(topic, forget));

  async function find(key: string): Promise<KnownKey> {
    // By the key itself, as tokens are: its checksum and its hash would cost each request 4 µs.
    const found = known.get(key);
    if (found) return found;
    if (!isApiKey(key)) throw refused();
    const asked = generation;
    const read = await readKey(services, apiKeyHash(key));
    if (!read) throw refused();
    // What was read before a revocation must not be remembered after it.
    if (asked === generation) known.set(key, read);
    return read;
  }

  return {
    async verify(key, tenantSlug) {
      const { principal, slug } = await find(key);
      if (principal.expiresAt !== undefined && principal.expiresAt <= now().getTime()) throw refused();
      if (tenantSlug !== undefined && tenantSlug !== slug)
        throw new AppError('AUTHORIZATION_ERROR', 'The API key belongs to another organization');
      uses.note(principal.sessionId);
      return principal;
    },
    async close() {
      for (const stop of stopListening) stop();
      await uses.close();
    },
  };
}

/** One answer for a mistyped, an unknown, an expired and a revoked key. */
function refused(): AppError {
  return new AppError('AUTHENTICATION_ERROR', 'The API key is not valid');
}

interface KeyRow {
  id: string;
  organization_id: string;
  permissions: string[];
  rate_limit_per_minute: number;
  expires_ms: number | null;
  user_id: string;
  email: string;
  role: UserRole;
  slug: string;
}

/** The key of a user who is deactivated or locked is as good as none. */
async function readKey({ orm }: Needs, hash: string): Promise<KnownKey | undefined> {
  const [row] = await orm.em.fork().execute<KeyRow[]>(
    `select k.id, k.organization_id, k.permissions, k.rate_limit_per_minute,
       (extract(epoch from k.expires_at) * 1000)::float8 as expires_ms,
       u.id as user_id, u.email, u.role, o.slug
     from api_key k
     join "user" u on u.id = k.created_by_id and u.active and u.locked_at is null
     join organization o on o.id = k.organization_id
     where k.hash = ?`,
    [hash],
  );
  return row && { slug: row.slug, principal: principalOf(row) };
}

function principalOf(row: KeyRow): ItsmPrincipal {
  // Reaching across tenants comes from the role: a key belongs to one.
  const role = row.role === 'super_admin' ? 'tenant_admin' : row.role;
  return {
    userId: row.user_id,
    email: row.email,
    organizationId: row.organization_id,
    role,
    sessionId: row.id,
    tokenId: row.id,
    permissions: row.permissions.filter((permission) => implies(rolePermissions[role], permission)),
    apiKey: { id: row.id, perMinute: row.rate_limit_per_minute },
    ...(row.expires_ms !== null && { expiresAt: row.expires_ms }),
  };
}
