export { exchangeSsoCode, type SsoCodeExchange } from './exchange-sso-code.js';
export { finishSso, type SsoLoggedIn, type SsoReturn } from './finish-sso.js';
export type { SsoProviderInput } from './provider-input.js';
export {
  createSsoProvider,
  deleteSsoProvider,
  getSsoProvider,
  listSsoProviders,
  updateSsoProvider,
} from './providers.js';
export { samlMetadata } from './sso-metadata.js';
export { startSso } from './start-sso.js';
