import type { RequestContext } from '../../context.js';
import { Connection } from '../../entities/connections/connection.js';
import { findInWorkspace, readInWorkspace } from '../workspace-resource.js';

/** @throws NOT_FOUND, AUTHORIZATION_ERROR */
export function getConnection(context: RequestContext, id: string): Promise<Connection> {
  return readInWorkspace(context, Connection, id);
}

/**
 * With its credentials, sealed, which a reading leaves out.
 * @throws NOT_FOUND, AUTHORIZATION_ERROR
 */
export function getSealedConnection(context: RequestContext, id: string): Promise<Connection> {
  return findInWorkspace(context, Connection, id, { em: context.em });
}
