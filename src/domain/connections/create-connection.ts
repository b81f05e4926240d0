import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { platformCaller, type RequestContext } from '../../context.js';
import { Connection } from '../../entities/connections/connection.js';
import { newUuid } from '../../entities/ids.js';
import { conflict } from '../../errors.js';
import { transactional } from '../../events/transaction.js';
import { validate } from '../validate.js';
import { type CreateConnection, createConnectionSchema } from './connection-input.js';

/** @throws VALIDATION_ERROR, CONFLICT when the workspace has a connection of that name */
export async function createConnection(
  context: RequestContext,
  input: CreateConnection,
): Promise<Connection> {
  const { organizationId, workspaceId, subject } = platformCaller(context);
  const { name, type, config, credentials } = validate(createConnectionSchema, input);
  const now = context.services.now();
  try {
    return await transactional(context, async ({ em }) =>
      em.create(Connection, {
        id: newUuid(),
        organizationId,
        workspaceId,
        name,
        type,
        config,
        sealedCredentials: context.services.secrets.seal(JSON.stringify(credentials)),
        createdAt: now,
        updatedAt: now,
        createdBy: subject,
      }),
    );
  } catch (error) {
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    throw conflict('The workspace has a connection of this name', { field: 'name', name });
  }
}
