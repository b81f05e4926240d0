import { connectionRoutes } from './connections/connections.routes.js';
import { authRoutes } from './identity/auth.routes.js';
import { mfaRoutes } from './identity/mfa.routes.js';
import { userLockRoutes } from './identity/user-lock.routes.js';
import { pipelineRoutes } from './pipelines/pipelines.routes.js';
import { runRoutes } from './runs/runs.routes.js';
import { ticketRoutes } from './tickets/tickets.routes.js';

/** Everything below /v1. */
export const itsmTables = [authRoutes, mfaRoutes, userLockRoutes, ticketRoutes] as const;

/** Everything below /api/v1. */
export const platformTables = [pipelineRoutes, runRoutes, connectionRoutes] as const;
