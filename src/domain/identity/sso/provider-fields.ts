import { z } from 'zod';
import type { Services } from '../../../context.js';
import { type SsoProvider, ssoKinds } from '../../../entities/identity/sso-provider.js';
import { invalidField } from '../../../errors.js';
import { validate } from '../../validate.js';
import { providerSchema, type SsoProviderFields, type SsoProviderInput } from './provider-input.js';

const kindSchema = z.object({ provider: z.enum(ssoKinds) });

/** What the record shows and an input may say. */
const shown = [
  'name',
  'enabled',
  'redirectUris',
  'issuer',
  'clientId',
  'scopes',
  'entryPoint',
  'certificates',
  'emailDomains',
  'provisionUsers',
  'defaultRole',
  'groupsClaim',
  'groupRoles',
] as const satisfies (keyof SsoProvider & keyof SsoProviderInput)[];

type Shown = Pick<SsoProvider, (typeof shown)[number]>;

/** What the columns of a kind are that has no such field. */
const absent = {
  clientId: null,
  scopes: [],
  entryPoint: null,
  certificates: [],
  defaultRole: null,
  groupsClaim: null,
  groupRoles: [],
};

/** null and nothing at all say the same: a record shows the fields of other kinds so. @throws VALIDATION_ERROR */
export function validProvider(
  { singleSignOn }: Pick<Services, 'singleSignOn'>,
  kind: string,
  input: SsoProviderInput,
): SsoProviderFields {
  const { provider } = validate(kindSchema, { provider: kind });
  const present = Object.entries(input).filter(
    ([, value]) => value != null && !(Array.isArray(value) && value.length === 0),
  );
  return validate(providerSchema(singleSignOn), { provider, ...Object.fromEntries(present) });
}

/** As columns; the secret has its own. */
export function columnsOf(fields: SsoProviderFields): Shown {
  const all = { ...absent, ...fields };
  return Object.fromEntries(shown.map((name) => [name, all[name] ?? null])) as Shown;
}

/** As it is shown to administrators and to the audit log. */
export function shownOf(provider: SsoProvider): Shown {
  return Object.fromEntries(shown.map((name) => [name, provider[name]])) as Shown;
}

/**
 * The secret that goes with a change: the new one, none, or the one there is. That one is for the issuer it was given
 * for: otherwise naming another issuer would be a way of reading it.
 * @throws VALIDATION_ERROR
 */
export function secretOf(
  { secrets }: Pick<Services, 'secrets'>,
  before: SsoProvider | undefined,
  fields: SsoProviderFields,
  input: SsoProviderInput,
): string | null {
  if ('clientSecret' in fields && fields.clientSecret !== undefined) return secrets.seal(fields.clientSecret);
  const kept = before?.sealedClientSecret ?? null;
  if (kept === null || input.clientSecret === null) return null;
  if (before?.issuer === fields.issuer) return kept;
  throw invalidField('clientSecret', 'isDefined', 'clientSecret must come with another issuer, or be null');
}
