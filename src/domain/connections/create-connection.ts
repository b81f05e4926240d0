import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { z } from 'zod';
import { platformCaller, type RequestContext } from '../../context.js';
import { Connection } from '../../entities/connections/connection.js';
import { newUuid } from '../../entities/ids.js';
import { conflict } from '../../errors.js';
import { transactional } from '../../events/transaction.js';
import { validate } from '../validate.js';
import { auditConnection, shown } from './audit-connection.js';
import { type CreateConnection, definitionSchema, nameSchema } from './connection-input.js';
import { requestedTarget } from './requested-target.js';

const named = z.object({ name: nameSchema });

/** @throws VALIDATION_ERROR, CONFLICT when the workspace has a connection of that name */
export async function createConnection(
  context: RequestContext,
  input: CreateConnection,
): Promise<Connection> {
  const { organizationId, workspaceId, subject } = platformCaller(context);
  const { secrets, config: rules, now } = context.services;
  const { name } = validate(named, input);
  const definition = validate(definitionSchema, {
    type: input.type,
    config: input.config,
    credentials: input.credentials ?? {},
  });
  await requestedTarget(definition, rules);
  const at = now();
  return writing(name, () =>
    transactional(context, async ({ em }) => {
      const connection = em.create(Connection, {
        id: newUuid(),
        organizationId,
        workspaceId,
        name,
        type: definition.type,
        config: definition.config,
        sealedCredentials: secrets.seal(JSON.stringify(definition.credentials)),
        createdAt: at,
        updatedAt: at,
        createdBy: subject,
      });
      await em.flush();
      await auditConnection(context, em, 'created', connection.id, { after: shown(connection) });
      return connection;
    }),
  );
}

/** @throws CONFLICT for a name in use */
export async function writing<T>(name: string | undefined, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    throw conflict('The workspace has a connection of this name', { field: 'name', name });
  }
}
