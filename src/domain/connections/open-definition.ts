import type { Services } from '../../context.js';
import type { Connection } from '../../entities/connections/connection.js';
import { conflict } from '../../errors.js';
import { validate } from '../validate.js';
import { type ConnectionDefinition, definitionSchema } from './connection-input.js';

/** A stored connection with its credentials in clear. @throws CONFLICT when they were sealed with another key */
export function openDefinition(
  { secrets }: Pick<Services, 'secrets'>,
  { type, config, sealedCredentials }: Pick<Connection, 'type' | 'config' | 'sealedCredentials'>,
): ConnectionDefinition {
  return validate(definitionSchema, {
    type,
    config,
    credentials: openCredentials({ secrets }, sealedCredentials),
  });
}

/** Empty where there are none. @throws CONFLICT when they were sealed with another key */
export function openCredentials({ secrets }: Pick<Services, 'secrets'>, sealed: string | null): object {
  if (sealed === null) return {};
  try {
    return JSON.parse(secrets.open(sealed));
  } catch {
    throw conflict(
      'The credentials were sealed with another secret key than the server has now: give them anew',
      {
        field: 'credentials',
      },
    );
  }
}
