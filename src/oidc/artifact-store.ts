import { createHash } from 'node:crypto';
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type { Services } from '../context.js';
import { OidcArtifact } from '../entities/identity/oidc-artifact.js';
import { query } from './query.js';

/** What a grant takes with it when it is revoked. */
const grantable = new Set(['AccessToken', 'AuthorizationCode', 'RefreshToken']);

type Needs = Pick<Services, 'orm' | 'now' | 'secrets'>;

/**
 * What the issuer remembers of one model, in PostgreSQL, so that a login begun on one node ends on another. An id is
 * the very code, cookie or token its bearer shows: only its hash is stored, and the payload is sealed.
 */
export function artifactStore(services: Needs, model: string): Adapter {
  const { now, secrets } = services;
  const keyOf = (id: string) => ({ model, id: createHash('sha256').update(id).digest('base64url') });

  async function find(where: { id: string } | { uid: string } | { userCode: string }) {
    const alive = { $or: [{ expiresAt: null }, { expiresAt: { $gt: now() } }] };
    const row = await query(services, (em) => em.findOne(OidcArtifact, { model, ...where, ...alive }));
    if (!row) return undefined;
    const payload = JSON.parse(secrets.open(String(row.payload['sealed']))) as AdapterPayload;
    return row.consumedAt ? { ...payload, consumed: Math.floor(row.consumedAt.getTime() / 1_000) } : payload;
  }

  return {
    async upsert(id, payload, expiresIn) {
      const artifact = {
        ...keyOf(id),
        payload: { sealed: secrets.seal(JSON.stringify(payload)) },
        grantId: grantable.has(model) ? (payload.grantId ?? null) : null,
        uid: payload.uid ?? null,
        userCode: payload.userCode ?? null,
        expiresAt: expiresIn ? new Date(now().getTime() + expiresIn * 1_000) : null,
      };
      await query(services, (em) => em.upsert(OidcArtifact, artifact));
    },
    find: (id) => find(keyOf(id)),
    findByUid: (uid) => find({ uid }),
    findByUserCode: (userCode) => find({ userCode }),
    /** Two exchanges of one code at the same moment both found it unused: only one of them gets past here. */
    async consume(id) {
      const unused = { ...keyOf(id), consumedAt: null };
      const won = await query(services, (em) => em.nativeUpdate(OidcArtifact, unused, { consumedAt: now() }));
      if (won === 0) throw new errors.InvalidGrant(`${model} was already used`);
    },
    async destroy(id) {
      await query(services, (em) => em.nativeDelete(OidcArtifact, keyOf(id)));
    },
    async revokeByGrantId(grantId) {
      await query(services, (em) => em.nativeDelete(OidcArtifact, { grantId }));
    },
  };
}
