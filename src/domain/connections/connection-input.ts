import { z } from 'zod';
import { text } from '../storable-text.js';

/** What a connection of each type is made of; credentials are kept sealed and never read back. */
const postgres = z.object({
  type: z.literal('postgres'),
  config: z.strictObject({
    host: text().min(1).max(255),
    port: z.int().min(1).max(65_535).default(5432),
    database: text().min(1).max(63),
    ssl: z
      .union([
        z.boolean(),
        z.strictObject({ ca: text().max(65_536).optional(), rejectUnauthorized: z.boolean().optional() }),
      ])
      .default(false),
  }),
  credentials: z.strictObject({
    username: text().min(1).max(63),
    password: text().max(1024).optional(),
  }),
});

const named = z.object({ name: text().trim().min(1).max(255) });

export const createConnectionSchema = named.and(z.discriminatedUnion('type', [postgres]));
export const postgresConfig = postgres.shape.config;
export const postgresCredentials = postgres.shape.credentials;

export interface CreateConnection {
  name: string;
  type: string;
  config: Record<string, unknown>;
  credentials: Record<string, unknown>;
}
