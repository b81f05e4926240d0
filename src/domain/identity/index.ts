export {
  highestPlatformRole,
  type PlatformAction,
  platformAllows,
  platformMinimumRole,
} from './platform-permissions.js';
export {
  type Action,
  implies,
  type Permission,
  type Resource,
  rolePermissions,
  type Scope,
  widestScope,
} from './role-permissions.js';
