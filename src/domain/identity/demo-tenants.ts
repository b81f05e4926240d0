import type { PlatformRole } from '../../context.js';
import { UserRole } from '../../entities/identity/user.js';

/** Of every demo user and every demo client: the demo is for a machine of one's own. */
export const DEMO_PASSWORD = 'opsgraph-demo';

export const demoOrganizations = [
  { slug: 'acme', name: 'Acme' },
  { slug: 'globex', name: 'Globex' },
] as const;
export type DemoSlug = (typeof demoOrganizations)[number]['slug'];

/** One of each per organization, as `<login>@<slug>.test`. */
export const demoUsers = [
  { login: 'admin', name: 'Ada Admin', role: UserRole.tenant_admin, platformRole: 'ADMIN' },
  { login: 'manager', name: 'Max Manager', role: UserRole.service_desk_manager, platformRole: 'ANALYST' },
  { login: 'agent', name: 'Gwen Agent', role: UserRole.service_desk_agent, platformRole: 'ENGINEER' },
  { login: 'user', name: 'Uma User', role: UserRole.end_user, platformRole: 'VIEWER' },
] as const satisfies { login: string; name: string; role: UserRole; platformRole: PlatformRole }[];
export type DemoLogin = (typeof demoUsers)[number]['login'];

export const demoClients = [
  { clientId: 'demo-admin', role: 'ADMIN', organization: 'acme' },
  { clientId: 'demo-engineer', role: 'ENGINEER', organization: 'acme' },
  { clientId: 'demo-analyst', role: 'ANALYST', organization: 'acme' },
  { clientId: 'demo-steward', role: 'STEWARD', organization: 'acme' },
  { clientId: 'demo-viewer', role: 'VIEWER', organization: 'acme' },
  { clientId: 'demo-globex-engineer', role: 'ENGINEER', organization: 'globex' },
] as const satisfies { clientId: string; role: PlatformRole; organization: DemoSlug }[];

export const demoPublicClient = {
  clientId: 'opsgraph-ui',
  /** Of a native client, so the port is free: RFC 8252 section 7.3. */
  redirectUris: ['127.0.0.1', 'localhost'].flatMap((host) =>
    ['/', '/callback', '/graphql'].map((path) => `http://${host}${path}`),
  ),
};
