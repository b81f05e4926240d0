import { isDeepStrictEqual } from 'node:util';
import { LockMode } from '@mikro-orm/core';
import { z } from 'zod';
import type { RequestContext } from '../../context.js';
import { Connection } from '../../entities/connections/connection.js';
import { invalidField } from '../../errors.js';
import { transactional } from '../../events/transaction.js';
import { validate } from '../validate.js';
import { findInWorkspace } from '../workspace-resource.js';
import { auditConnection, shown } from './audit-connection.js';
import { definitionSchema, nameSchema, type UpdateConnection } from './connection-input.js';
import { writing } from './create-connection.js';
import { openCredentials } from './open-definition.js';
import { requestedTarget } from './requested-target.js';

const changesSchema = z.object({
  name: nameSchema.optional(),
  type: z.string().optional(),
  config: z.record(z.string(), z.unknown()).optional(),
  credentials: z.record(z.string(), z.unknown()).optional(),
});

/**
 * Absent fields stay; config and credentials are replaced as wholes, and judged together. The type cannot change.
 * Credentials are kept only for the destination they were given for.
 * @throws NOT_FOUND, VALIDATION_ERROR, CONFLICT for a name in use, or for credentials to keep that cannot be read
 */
export async function updateConnection(
  context: RequestContext,
  id: string,
  input: UpdateConnection,
): Promise<Connection> {
  const { name, type, config, credentials } = validate(changesSchema, input);
  const { secrets, config: rules, now } = context.services;
  return writing(name, () =>
    transactional(context, async ({ em }) => {
      const lockMode = LockMode.PESSIMISTIC_WRITE;
      const connection = await findInWorkspace(context, Connection, id, { em, lockMode });
      if (type !== undefined && type !== connection.type)
        throw invalidField('type', 'isUnchanged', `type: a ${connection.type} connection stays one`);
      const before = shown(connection);
      if (name !== undefined) connection.name = name;
      if (config !== undefined || credentials !== undefined) {
        const definition = validate(definitionSchema, {
          type: connection.type,
          config: config ?? connection.config,
          credentials: credentials ?? openCredentials({ secrets }, connection.sealedCredentials),
        });
        await requestedTarget(definition, rules);
        if (credentials === undefined && connection.sealedCredentials !== null) {
          requireSameDestination(connection.config, definition.config);
        }
        connection.config = definition.config;
        connection.sealedCredentials = secrets.seal(JSON.stringify(definition.credentials));
      }
      connection.updatedAt = now();
      await em.flush();
      const after = { ...shown(connection), ...(credentials !== undefined && { credentialsReplaced: true }) };
      await auditConnection(context, em, 'updated', id, { before, after });
      return connection;
    }),
  );
}

/** Where the credentials are sent. */
const DESTINATION = ['host', 'port', 'baseUrl', 'endpoint', 'brokers'] as const;

/** Whoever may change a connection may not thereby read its secret, by having it sent to a server of their own. */
function requireSameDestination(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): void {
  const changed = DESTINATION.find((field) => !isDeepStrictEqual(before[field], after[field]));
  if (changed === undefined) return;
  throw invalidField(
    'credentials',
    'isRequired',
    `credentials are required again when config.${changed} changes`,
  );
}
