import type { ClassType } from 'type-graphql';
import { AuditResolver } from './audit/audit.resolver.js';
import { ConnectionResolver } from './connections/connection.resolver.js';
import { EventResolver } from './events/event.resolver.js';
import { ApiKeyResolver } from './identity/api-key.resolver.js';
import { AuthResolver } from './identity/auth.resolver.js';
import { MfaResolver } from './identity/mfa.resolver.js';
import { OrganizationResolver } from './identity/organization.resolver.js';
import { PasswordResolver } from './identity/password.resolver.js';
import { SessionResolver } from './identity/session.resolver.js';
import { SsoResolver } from './identity/sso.resolver.js';
import { TeamResolver } from './identity/team.resolver.js';
import { UserResolver } from './identity/user.resolver.js';
import { UserIdentityResolver } from './identity/user-identity.resolver.js';
import { UserLockResolver } from './identity/user-lock.resolver.js';
import { LineageResolver } from './lineage/lineage.resolver.js';
import { PipelineResolver } from './pipelines/pipeline.resolver.js';
import { RunResolver } from './runs/run.resolver.js';
import { TicketResolver } from './tickets/ticket.resolver.js';
import { WebhookResolver } from './webhooks/webhook.resolver.js';
import { WebhookDeliveryResolver } from './webhooks/webhook-delivery.resolver.js';

/** The explicit list: a resolver that is not here is not in the graph. */
export const resolvers: readonly ClassType[] = [
  ApiKeyResolver,
  SessionResolver,
  UserIdentityResolver,
  AuditResolver,
  AuthResolver,
  MfaResolver,
  UserLockResolver,
  OrganizationResolver,
  PasswordResolver,
  SsoResolver,
  TeamResolver,
  UserResolver,
  ConnectionResolver,
  PipelineResolver,
  RunResolver,
  LineageResolver,
  TicketResolver,
  EventResolver,
  WebhookResolver,
  WebhookDeliveryResolver,
];
