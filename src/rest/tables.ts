import { connectionRoutes } from './connections/connections.routes.js';
import { eventRoutes } from './events/events.routes.js';
import { apiKeyRoutes } from './identity/api-keys.routes.js';
import { authRoutes } from './identity/auth.routes.js';
import { identityRoutes } from './identity/identities.routes.js';
import { mfaRoutes } from './identity/mfa.routes.js';
import { organizationRoutes } from './identity/organization.routes.js';
import { passwordRoutes } from './identity/password.routes.js';
import { sessionRoutes } from './identity/sessions.routes.js';
import { ssoRoutes } from './identity/sso.routes.js';
import { teamRoutes } from './identity/teams.routes.js';
import { userLockRoutes } from './identity/user-lock.routes.js';
import { userRoutes } from './identity/users.routes.js';
import { lineageRoutes } from './lineage/lineage.routes.js';
import { pipelineRoutes } from './pipelines/pipelines.routes.js';
import { runRoutes } from './runs/runs.routes.js';
import { ticketRoutes } from './tickets/tickets.routes.js';
import { webhookRoutes } from './webhooks/webhooks.routes.js';

/** Everything below /v1. */
export const itsmTables = [
  authRoutes,
  sessionRoutes,
  apiKeyRoutes,
  identityRoutes,
  mfaRoutes,
  passwordRoutes,
  userRoutes,
  userLockRoutes,
  ssoRoutes,
  teamRoutes,
  organizationRoutes,
  ticketRoutes,
  eventRoutes,
  webhookRoutes,
] as const;

/** Everything below /api/v1. */
export const platformTables = [pipelineRoutes, runRoutes, connectionRoutes, lineageRoutes] as const;
