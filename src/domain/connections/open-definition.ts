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
  const credentials = sealedCredentials === null ? {} : opened(secrets, sealedCredentials);
  return validate(definitionSchema, { type, config, credentials });
}

function opened(secrets: Services['secrets'], sealed: string): object {
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
