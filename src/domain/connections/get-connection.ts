import type { RequestContext } from '../../context.js';
import { Connection } from '../../entities/connections/connection.js';
import { findInWorkspace } from '../workspace-resource.js';

/** @throws NOT_FOUND, AUTHORIZATION_ERROR */
export function getConnection(context: RequestContext, id: string): Promise<Connection> {
  return findInWorkspace(context, Connection, id);
}
