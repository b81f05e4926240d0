import { z } from 'zod';
import { UserRole } from '../../../entities/identity/user.js';
import { text } from '../../storable-text.js';

const MAX_TEAMS = 100;

const fields = {
  email: z
    .string()
    .trim()
    .toLowerCase()
    .min(1, { abort: true })
    .max(254, { abort: true })
    .pipe(z.email({ abort: true }))
    .pipe(text()),
  name: text().trim().min(1).max(255),
  role: z.enum(UserRole),
  teamIds: z
    .array(text().min(1).max(64))
    .max(MAX_TEAMS)
    .transform((ids) => [...new Set(ids)]),
};

export const createUserSchema = z.object({ ...fields, teamIds: fields.teamIds.nullish() });
export const updateUserSchema = z.object({ ...fields, active: z.boolean() }).partial();

export type CreateUser = z.input<typeof createUserSchema>;
export type UpdateUser = z.input<typeof updateUserSchema>;
export type UserPatch = z.output<typeof updateUserSchema>;
