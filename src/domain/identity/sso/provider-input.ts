import { X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { UserRole } from '../../../entities/identity/user.js';
import type { SingleSignOn } from '../../../integrations/sso/sso-protocol.js';
import { text } from '../../storable-text.js';

/** What an address may look like that codes are sent to; which ones there are, each organization says. */
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** Roles a provider may give: nobody becomes a super_admin by what one organization configures. */
const grantable = [
  UserRole.end_user,
  UserRole.service_desk_agent,
  UserRole.service_desk_manager,
  UserRole.tenant_admin,
] as const;

const redirectUri = z
  .string()
  .max(2_000)
  .refine(isRedirectUri, {
    error: 'must be https, http on a loopback address or a private scheme with a dot, without a fragment',
    params: { constraint: 'isRedirectUri' },
  });

const certificate = z
  .string()
  .max(16_384)
  .refine(isCertificate, { error: 'must be a PEM certificate', params: { constraint: 'isCertificate' } });

const domain = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, { error: 'must be a domain name' });

/** RFC 6749 section 3.3. */
const scope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/, { error: 'must be a scope' });

const list = <T extends z.ZodType>(item: T, max: number) => z.array(item).max(max).default([]);

/** One shape per kind, whole: a change is laid over what there is and checked as if it were new. */
export function providerSchema(singleSignOn: Pick<SingleSignOn, 'problemOf'>) {
  const address = z
    .url()
    .max(2_000)
    .superRefine((value, context) => {
      const problem = URL.canParse(value) ? singleSignOn.problemOf(new URL(value)) : undefined;
      if (problem === undefined) return;
      const message = problem === 'isHttps' ? 'must be an https address' : 'must be a public address';
      context.addIssue({ code: 'custom', message, params: { constraint: problem } });
    });

  const common = {
    name: text().trim().min(1).max(255),
    enabled: z.boolean().default(true),
    redirectUris: list(redirectUri, 20),
    emailDomains: list(domain, 100),
    defaultRole: z.enum(grantable).optional(),
  };
  const oidc = (usualScopes: string[]) => ({
    issuer: address,
    clientId: text().min(1).max(512),
    clientSecret: text().min(1).max(4_096).optional(),
    scopes: z.array(scope).max(20).default(usualScopes),
  });
  const invited = { provisionUsers: z.boolean().default(false) };
  return z.discriminatedUnion('provider', [
    z.strictObject({
      provider: z.literal('directory-oidc'),
      ...common,
      ...oidc(['email', 'profile']),
      provisionUsers: z.boolean().default(true),
      defaultRole: z.enum(grantable).default(UserRole.end_user),
    }),
    z.strictObject({
      provider: z.literal('workspace-oidc'),
      ...common,
      ...oidc(['email', 'profile']),
      ...invited,
      groupsClaim: text().min(1).max(255).default('groups'),
      groupRoles: z
        .array(z.strictObject({ group: text().min(1).max(255), role: z.enum(grantable) }))
        .min(1)
        .max(200),
    }),
    z.strictObject({ provider: z.literal('oidc'), ...common, ...oidc(['email']), ...invited }),
    z.strictObject({
      provider: z.literal('saml'),
      ...common,
      ...invited,
      issuer: text().min(1).max(1_024),
      entryPoint: address,
      certificates: z.array(certificate).min(1).max(10),
    }),
  ]);
}

/** As it comes from outside; every field of every kind, none of them sure. */
export interface SsoProviderInput {
  name?: string | null | undefined;
  enabled?: boolean | null | undefined;
  redirectUris?: string[] | null | undefined;
  issuer?: string | null | undefined;
  clientId?: string | null | undefined;
  clientSecret?: string | null | undefined;
  scopes?: string[] | null | undefined;
  entryPoint?: string | null | undefined;
  certificates?: string[] | null | undefined;
  emailDomains?: string[] | null | undefined;
  provisionUsers?: boolean | null | undefined;
  defaultRole?: UserRole | null | undefined;
  groupsClaim?: string | null | undefined;
  groupRoles?: { group: string; role: UserRole }[] | null | undefined;
}

export type SsoProviderFields = z.output<ReturnType<typeof providerSchema>>;

function isRedirectUri(value: string): boolean {
  const url = URL.parse(value);
  // An empty fragment leaves none in `hash`, and a browser would still take it for one.
  if (!url || value.includes('#') || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:') return true;
  if (url.protocol === 'http:') return LOOPBACK.has(url.hostname);
  // RFC 8252 section 7.1: the reversed name of a domain, which javascript: and data: are not.
  return url.protocol.includes('.');
}

function isCertificate(value: string): boolean {
  if (!value.includes('-----BEGIN CERTIFICATE-----')) return false;
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = new X509Certificate(value).publicKey;
    return asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2_048;
  } catch {
    return false;
  }
}
