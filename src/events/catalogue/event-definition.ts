import type { z } from 'zod';

/** One row of a category's table. */
export interface EventDefinition {
  /** What it tells of, in the words of the ITSM document. */
  readonly meaning: string;
  /** The exact fields of the payload, snake_case, because payloads leave the system as they are written. */
  readonly payload: z.ZodObject;
  /** The field of the payload that names the ticket, change, user ... it tells of; readers filter by it. */
  readonly subject: string;
}
