import { itsmCaller, type RequestContext } from '../../../context.js';
import { ApiKey } from '../../../entities/identity/api-key.js';
import { conflict, notFound } from '../../../errors.js';
import { transactional } from '../../../events/transaction.js';
import { auditSource, recordAudit } from '../../audit/index.js';
import { validate } from '../../validate.js';
import { requireHeld, type UpdateApiKey, updateKeySchema } from './api-key-input.js';
import { apiKeyHash, newApiKey } from './api-key-secret.js';
import { auditedKey, type NewApiKey } from './create-api-key.js';
import { findApiKey, keysOf } from './find-api-keys.js';
import { API_KEYS_TOPIC } from './verify-api-key.js';

/** @throws VALIDATION_ERROR, AUTHORIZATION_ERROR for a permission the caller lacks, NOT_FOUND */
export async function updateApiKey(
  context: RequestContext,
  id: string,
  input: UpdateApiKey,
): Promise<ApiKey> {
  const caller = itsmCaller(context);
  const fields = validate(updateKeySchema(context.services.now()), input);
  requireHeld(caller, fields.permissions ?? []);
  return transactional(context, async ({ em, wakeAfterCommit }) => {
    const key = await findApiKey(em, caller, 'update', id);
    const before = auditedKey(key);
    em.assign(key, { ...fields, updatedAt: context.services.now() });
    await em.flush();
    wakeAfterCommit(API_KEYS_TOPIC);
    await recordAudit(em, {
      ...auditSource(context),
      action: 'api_key.updated',
      resource: { type: 'api_key', id },
      before,
      after: auditedKey(key),
    });
    return key;
  });
}

/**
 * The key as it was is refused from now on. Of two at once one is told to look again: only one of their answers would
 * hold a key that works.
 * @throws NOT_FOUND, CONFLICT
 */
export async function rotateApiKey(context: RequestContext, id: string): Promise<NewApiKey> {
  const caller = itsmCaller(context);
  const { now } = context.services;
  const known = await findApiKey(context.em.fork(), caller, 'update', id);
  // A new secret for what the caller could not have made would hand it to them.
  requireHeld(caller, known.permissions);
  const secret = newApiKey(now());
  return transactional(context, async ({ em, wakeAfterCommit }) => {
    const change = { hash: apiKeyHash(secret), updatedAt: now() };
    const won = await em.nativeUpdate(ApiKey, { id, hash: known.hash }, change);
    if (won === 0) throw conflict('The API key has just been rotated or deleted', { id });
    wakeAfterCommit(API_KEYS_TOPIC);
    await recordAudit(em, {
      ...auditSource(context),
      action: 'api_key.rotated',
      resource: { type: 'api_key', id },
    });
    return Object.assign(known, change, { key: secret });
  });
}

/** Refused from now on, on every node. @throws NOT_FOUND */
export async function deleteApiKey(context: RequestContext, id: string): Promise<void> {
  const caller = itsmCaller(context);
  await transactional(context, async ({ em, wakeAfterCommit }) => {
    const deleted = await em.nativeDelete(ApiKey, { $and: [{ id }, keysOf(caller, 'delete')] });
    if (deleted === 0) throw notFound('api_key', id);
    wakeAfterCommit(API_KEYS_TOPIC);
    await recordAudit(em, {
      ...auditSource(context),
      action: 'api_key.deleted',
      resource: { type: 'api_key', id },
    });
  });
}
