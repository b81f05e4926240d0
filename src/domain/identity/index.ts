export { createItsmTokens } from './itsm-tokens.js';
export { type Credentials, type LoggedIn, login } from './login.js';
export { type LoggedOut, logout } from './logout.js';
export {
  highestPlatformRole,
  type PlatformAction,
  platformAllows,
  platformMinimumRole,
} from './platform-permissions.js';
export { refresh } from './refresh.js';
export {
  type Action,
  implies,
  type Permission,
  type Resource,
  rolePermissions,
  type Scope,
  widestScope,
} from './role-permissions.js';
