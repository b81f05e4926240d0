import { z } from 'zod';
import { UserRole } from '../../entities/identity/user.js';
import type { EventDefinition } from './event-definition.js';
import { actor, changes, id, text } from './fields.js';

const subject = 'id';

export const userEvents = {
  'user.created': {
    meaning: 'user provisioned in the organization',
    payload: z.strictObject({
      id,
      email: text,
      name: text,
      role: z.enum(UserRole),
      /** How the user came: `api`, or the provider that brought them. */
      source: text.min(1),
    }),
    subject,
  },
  'user.updated': {
    meaning: 'profile, role or permissions changed',
    payload: z.strictObject({ id, email: text, changes, actor }),
    subject,
  },
} as const satisfies Record<string, EventDefinition>;
