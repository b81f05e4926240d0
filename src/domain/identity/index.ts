export { accountMails, PASSWORD_PATH } from './account-mails.js';
export type {
  CreateApiKey,
  UpdateApiKey,
} from './api-keys/api-key-input.js';
export { deleteApiKey, rotateApiKey, updateApiKey } from './api-keys/change-api-key.js';
export { createApiKey, type NewApiKey } from './api-keys/create-api-key.js';
export { getApiKey, listApiKeys } from './api-keys/find-api-keys.js';
export { type Authenticator, createAuthenticator, type Door, type SentCredentials } from './authenticate.js';
export { auditCrossTenant } from './cross-tenant.js';
export { DEMO_PASSWORD } from './demo-tenants.js';
export { endOwnSession, revokeUserSessions } from './end-sessions.js';
export { forbidden } from './forbidden.js';
export { discoveredIssuer, embeddedIssuer, type IssuerKeys } from './issuer-keys.js';
export { createItsmTokens } from './itsm-tokens.js';
export { linkIdentity, listIdentities, unlinkIdentity } from './links/link-identity.js';
export { listOwnSessions, listUserSessions } from './list-sessions.js';
export { lockUser, type UserLock, unlockUser } from './lock-user.js';
export { type Credentials, type LoggedIn, login } from './login.js';
export { type LoggedOut, logout } from './logout.js';
export { type MfaMethod, mfaMethods } from './mfa/mfa-methods.js';
export { regenerateBackupCodes, removeMfa } from './mfa/remove-mfa.js';
export { confirmMfa, type MfaConfirmation, type MfaOffer, setUpMfa } from './mfa/set-up-mfa.js';
export type { MfaChallenged } from './mfa/start-challenge.js';
export { type MfaAnswer, verifyMfa } from './mfa/verify-mfa.js';
export { openSession, type SessionStart } from './open-session.js';
export {
  getOrganization,
  type UpdateOrganization,
  updateOrganization,
} from './organization/organization.js';
export {
  changePassword,
  type PasswordAsked,
  type PasswordSet,
  requestPasswordReset,
  resetPassword,
} from './passwords.js';
export {
  highestPlatformRole,
  type PlatformAction,
  platformAllows,
  platformMinimumRole,
} from './platform-permissions.js';
export { createPlatformTokens } from './platform-tokens.js';
export { proveIdentity, proveSecondFactor } from './prove-identity.js';
export { refresh } from './refresh.js';
export { requirePassword } from './require-password.js';
export { revokeToken } from './revoke-token.js';
export {
  type Action,
  implies,
  leastRoleWith,
  type Permission,
  type Resource,
  resources,
  rolePermissions,
  type Scope,
  widestScope,
} from './role-permissions.js';
export { type DemoTenant, seedDemo } from './seed-demo.js';
export { createSigningKeys, rotateDueKeys, type SigningKeys } from './signing-keys.js';
export * from './sso/index.js';
export { sweepExpired } from './sweep-expired.js';
export * from './teams/index.js';
export * from './users/index.js';
export { verifyCredentials } from './verify-credentials.js';
