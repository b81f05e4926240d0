import type { Services } from '../../context.js';
import type { Connection } from '../../entities/connections/connection.js';
import { validate } from '../validate.js';
import { type ConnectionDefinition, definitionSchema } from './connection-input.js';

/** A stored connection with its credentials in clear. @throws when they were sealed with another key */
export function openDefinition(
  { secrets }: Pick<Services, 'secrets'>,
  { type, config, sealedCredentials }: Pick<Connection, 'type' | 'config' | 'sealedCredentials'>,
): ConnectionDefinition {
  const credentials = sealedCredentials === null ? {} : JSON.parse(secrets.open(sealedCredentials));
  return validate(definitionSchema, { type, config, credentials });
}
