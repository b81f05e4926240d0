import { z } from 'zod';
import type { ItsmPrincipal } from '../../../context.js';
import { AppError } from '../../../errors.js';
import { text } from '../../storable-text.js';
import { implies, isPermission } from '../role-permissions.js';

const MAX_PERMISSIONS = 100;
const MAX_PER_MINUTE = 100_000;

const name = text().trim().min(1).max(100);
const permissions = z
  .array(z.string().refine(isPermission, { error: 'is not a permission', params: { constraint: 'isIn' } }))
  .min(1)
  .max(MAX_PERMISSIONS)
  .transform((list) => [...new Set(list)]);
const rateLimitPerMinute = z.int().min(1).max(MAX_PER_MINUTE);

function expiresAt(now: Date) {
  return z.date().refine((date) => date > now, {
    error: 'must be in the future',
    params: { constraint: 'minDate' },
  });
}

export function createKeySchema(now: Date) {
  return z.object({
    name,
    permissions,
    rateLimitPerMinute: rateLimitPerMinute.nullish(),
    expiresAt: expiresAt(now).nullish(),
  });
}

export function updateKeySchema(now: Date) {
  return z.object({
    name: name.optional(),
    permissions: permissions.optional(),
    rateLimitPerMinute: rateLimitPerMinute.optional(),
    expiresAt: expiresAt(now).nullish(),
  });
}

export type CreateApiKey = z.input<ReturnType<typeof createKeySchema>>;
export type UpdateApiKey = z.input<ReturnType<typeof updateKeySchema>>;

/** Nobody hands on what they do not hold. @throws AUTHORIZATION_ERROR */
export function requireHeld(caller: ItsmPrincipal, wanted: readonly string[]): void {
  const missing = wanted.filter((permission) => !implies(caller.permissions, permission));
  if (missing.length === 0) return;
  throw new AppError('AUTHORIZATION_ERROR', 'An API key cannot hold a permission its creator lacks', {
    details: { requiredPermission: missing[0], missingPermissions: missing, currentRole: caller.role },
  });
}
