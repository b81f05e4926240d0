import { itsmCaller, type RequestContext } from '../../../context.js';
import { ApiKey } from '../../../entities/identity/api-key.js';
import { newId } from '../../../entities/ids.js';
import { auditSource, recordAudit } from '../../audit/index.js';
import { validate } from '../../validate.js';
import { type CreateApiKey, createKeySchema, requireHeld } from './api-key-input.js';
import { apiKeyHash, newApiKey } from './api-key-secret.js';

/** The key itself is in the answer this once. */
export type NewApiKey = ApiKey & { key: string };

/** @throws VALIDATION_ERROR, AUTHORIZATION_ERROR for a permission the caller lacks */
export async function createApiKey(context: RequestContext, input: CreateApiKey): Promise<NewApiKey> {
  const { config, now } = context.services;
  const caller = itsmCaller(context);
  const createdAt = now();
  const fields = validate(createKeySchema(createdAt), input);
  requireHeld(caller, fields.permissions);
  const secret = newApiKey(createdAt);
  const key = await context.em.fork().transactional(async (em) => {
    const made = em.create(ApiKey, {
      id: newId('key'),
      organizationId: caller.organizationId,
      createdById: caller.userId,
      name: fields.name,
      hash: apiKeyHash(secret),
      permissions: fields.permissions,
      rateLimitPerMinute: fields.rateLimitPerMinute ?? config.rateLimits.apiKey,
      expiresAt: fields.expiresAt ?? null,
      createdAt,
      updatedAt: createdAt,
    });
    await em.flush();
    await recordAudit(em, {
      ...auditSource(context),
      action: 'api_key.created',
      resource: { type: 'api_key', id: made.id },
      after: auditedKey(made),
    });
    return made;
  });
  return Object.assign(key, { key: secret });
}

export function auditedKey({ name, permissions, rateLimitPerMinute, expiresAt }: ApiKey): object {
  return { name, permissions, rateLimitPerMinute, expiresAt };
}
