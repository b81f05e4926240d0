import type { Services } from '../../../context.js';
import type { SsoProvider } from '../../../entities/identity/sso-provider.js';
import { validate } from '../../validate.js';
import { providerSchema, type SsoProviderFields, type SsoProviderInput } from './provider-input.js';

type Column = keyof Omit<SsoProvider, 'id' | 'organizationId' | 'provider' | 'createdAt' | 'updatedAt'>;
export type SsoProviderColumns = Pick<SsoProvider, Column>;

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

/** @throws VALIDATION_ERROR, also for a field of another kind */
export function validProvider(
  { singleSignOn }: Pick<Services, 'singleSignOn'>,
  provider: unknown,
  input: SsoProviderInput,
): SsoProviderFields {
  return validate(providerSchema(singleSignOn), { provider, ...present(input) });
}

/** @param keptSecret sealed; counts unless the fields bring a new one */
export function columnsOf(
  { secrets }: Pick<Services, 'secrets'>,
  fields: SsoProviderFields,
  keptSecret: string | null,
): SsoProviderColumns {
  const { provider: _, ...columns } = fields;
  const { clientSecret, ...rest } = { clientSecret: undefined, ...columns };
  const sealedClientSecret = clientSecret === undefined ? keptSecret : secrets.seal(clientSecret);
  return { ...absent, ...rest, sealedClientSecret };
}

/** The record as an input that would make it: what a change is laid over. */
export function inputOf(provider: SsoProvider): SsoProviderInput {
  const { id: _, organizationId: __, provider: ___, sealedClientSecret: ____, ...rest } = provider;
  const { createdAt: _____, updatedAt: ______, ...input } = rest;
  return input;
}

/** null and nothing at all say the same: a record shows the fields of other kinds so. */
function present(input: SsoProviderInput): Partial<SsoProviderInput> {
  return Object.fromEntries(
    Object.entries(input).filter(
      ([, value]) => value != null && !(Array.isArray(value) && value.length === 0),
    ),
  );
}
