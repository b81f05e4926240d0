import { AuditChain } from './audit/audit-chain.js';
import { AuditEntry } from './audit/audit-entry.js';
import { Connection } from './connections/connection.js';
import { Event } from './events/event.js';
import { IdempotentAnswer } from './idempotency/idempotent-answer.js';
import { ApiKey } from './identity/api-key.js';
import { BackupCode } from './identity/backup-code.js';
import { LoginGuard } from './identity/login-guard.js';
import { MfaChallenge } from './identity/mfa-challenge.js';
import { MfaSetup } from './identity/mfa-setup.js';
import { OidcArtifact } from './identity/oidc-artifact.js';
import { OidcClient } from './identity/oidc-client.js';
import { Organization } from './identity/organization.js';
import { PasswordToken } from './identity/password-token.js';
import { RefreshToken } from './identity/refresh-token.js';
import { RevokedToken } from './identity/revoked-token.js';
import { Session } from './identity/session.js';
import { SigningKey } from './identity/signing-key.js';
import { SsoIdentity } from './identity/sso-identity.js';
import { SsoLogin } from './identity/sso-login.js';
import { SsoProvider } from './identity/sso-provider.js';
import { Team } from './identity/team.js';
import { TeamMember } from './identity/team-member.js';
import { TotpFactor } from './identity/totp-factor.js';
import { User } from './identity/user.js';
import { UserIdentity } from './identity/user-identity.js';
import { WebauthnCredential } from './identity/webauthn-credential.js';
import { Workspace } from './identity/workspace.js';
import { LineageEvent } from './lineage/lineage-event.js';
import { Mail } from './mail/mail.js';
import { Pipeline } from './pipelines/pipeline.js';
import { PipelineRevision } from './pipelines/pipeline-revision.js';
import { Run } from './runs/run.js';
import { RunMessage } from './runs/run-message.js';
import { RunTask } from './runs/run-task.js';
import { SourceWatermark } from './runs/source-watermark.js';
import { Ticket } from './tickets/ticket.js';
import { TicketCounter } from './tickets/ticket-counter.js';
import { TicketTotal } from './tickets/ticket-total.js';
import { Webhook } from './webhooks/webhook.js';
import { WebhookDelivery } from './webhooks/webhook-delivery.js';
import { WebhookPosition } from './webhooks/webhook-position.js';

/** The explicit list: an entity that is not here has no table. */
export const entities = [
  ApiKey,
  AuditChain,
  AuditEntry,
  BackupCode,
  Connection,
  Event,
  IdempotentAnswer,
  LoginGuard,
  Mail,
  MfaChallenge,
  MfaSetup,
  OidcArtifact,
  OidcClient,
  Organization,
  PasswordToken,
  Pipeline,
  PipelineRevision,
  RefreshToken,
  RevokedToken,
  Run,
  RunMessage,
  RunTask,
  SourceWatermark,
  LineageEvent,
  Session,
  SigningKey,
  SsoIdentity,
  SsoLogin,
  SsoProvider,
  Team,
  TeamMember,
  Ticket,
  TicketCounter,
  TicketTotal,
  TotpFactor,
  User,
  UserIdentity,
  WebauthnCredential,
  Webhook,
  WebhookDelivery,
  WebhookPosition,
  Workspace,
];
