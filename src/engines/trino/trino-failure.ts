import type { QueryError } from 'trino-client';
import { EngineError, type EngineErrorKind } from '../engine-error.js';

interface Kind {
  kind: EngineErrorKind;
  transient?: boolean;
}

const AWAY: Kind = { kind: 'CONNECTION', transient: true };

/** By name, where the type is too coarse. https://trino.io/docs/current/develop/client-protocol.html#query-errors */
const BY_NAME: Readonly<Record<string, Kind>> = {
  EXCEEDED_TIME_LIMIT: { kind: 'TIMEOUT' },
  EXCEEDED_SPILL_LIMIT: { kind: 'DISK_FULL' },
  QUERY_QUEUE_FULL: AWAY,
  USER_CANCELED: { kind: 'CANCELLED' },
  PERMISSION_DENIED: { kind: 'CONNECTION' },
  NO_NODES_AVAILABLE: AWAY,
  REMOTE_TASK_ERROR: AWAY,
  REMOTE_HOST_GONE: AWAY,
  SERVER_SHUTTING_DOWN: AWAY,
  SERVER_STARTING_UP: AWAY,
  ABANDONED_QUERY: AWAY,
};

const BY_TYPE: Readonly<Record<string, Kind>> = {
  USER_ERROR: { kind: 'SQL' },
  INSUFFICIENT_RESOURCES: { kind: 'OUT_OF_MEMORY' },
  EXTERNAL: AWAY,
  INTERNAL_ERROR: { kind: 'INTERNAL' },
};

/** What Trino itself said of a statement: it has ended, and not well. */
export class TrinoFailure extends EngineError {
  readonly errorName: string;

  constructor({ message, errorName, errorType }: Pick<QueryError, 'message' | 'errorName' | 'errorType'>) {
    const { kind, transient } = BY_NAME[errorName] ?? BY_TYPE[errorType] ?? { kind: 'INTERNAL' };
    super(kind, `Trino: ${message} (${errorName})`, { transient: transient ?? false });
    this.errorName = errorName;
  }
}

/** Of a request that brought no answer of Trino's. Without the cause, which holds the request's credentials. */
export function requestError(error: unknown): EngineError {
  const status = statusOf(error);
  if (status === 401 || status === 403) {
    return new EngineError('CONNECTION', `Trino refuses the user of TRINO_USER (HTTP ${status}).`);
  }
  const { code } = error as { code?: unknown };
  const what = status === undefined ? (typeof code === 'string' ? code : 'no answer') : `HTTP ${status}`;
  return new EngineError('CONNECTION', `Trino cannot be reached: ${what}.`, { transient: true });
}

export function statusOf(error: unknown): number | undefined {
  const { response } = error as { response?: { status?: unknown } };
  return typeof response?.status === 'number' ? response.status : undefined;
}
