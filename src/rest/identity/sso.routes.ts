import { param, routes } from 'rest-graphql-bridge';
import { pageOf, pageQuery } from '../page-query.js';
import { route } from '../route.js';
import { deviceHeader, withDevice } from './device-fingerprint.js';
import { neverStored } from './never-stored.js';
import {
  CreateSsoProviderDocument,
  DeleteSsoProviderDocument,
  ExchangeSsoCodeDocument,
  GetSsoProviderDocument,
  ListSsoProvidersDocument,
  UpdateSsoProviderDocument,
} from './sso.generated.js';

const tags = ['Single sign-on'];
const path = '/v1/sso-providers';

/** What GET answers and a client may send back unchanged. */
const readOnly = ['id', 'createdAt', 'updatedAt'];

export const ssoRoutes = routes(import.meta.url, [
  route(ListSsoProvidersDocument, {
    method: 'GET',
    path,
    tags,
    summary: 'The login providers of the organization',
    query: { sortBy: param.oneOf(['createdAt'], { default: 'createdAt' }), ...pageQuery },
    variables: ({ query: { sortBy: _, ...page } }) => pageOf(page),
    nulls: { hasMore: 'omit', cursor: 'omit' },
  }),
  route(CreateSsoProviderDocument, {
    method: 'POST',
    path,
    tags,
    summary: 'Let the users of the organization log in by a provider',
    body: { variable: 'input', readOnly },
    status: 201,
    responseHeaders: ({ createSsoProvider }) => ({ location: `${path}/${createSsoProvider.id}` }),
  }),
  route(GetSsoProviderDocument, {
    method: 'GET',
    path: `${path}/:id`,
    tags,
    summary: 'One login provider',
    variables: ({ params }) => params,
  }),
  route(UpdateSsoProviderDocument, {
    method: 'PATCH',
    path: `${path}/:id`,
    tags,
    summary: 'Change a login provider; its kind stays',
    body: { variable: 'input', readOnly: [...readOnly, 'provider'] },
    variables: ({ params, body }) => ({ id: params.id, input: body }),
  }),
  route(DeleteSsoProviderDocument, {
    method: 'DELETE',
    path: `${path}/:id`,
    tags,
    summary: 'End the logins by a provider; its users stay',
    variables: ({ params }) => params,
    response: 'none',
  }),
  route(ExchangeSsoCodeDocument, {
    method: 'POST',
    path: '/v1/auth/sso/token',
    access: 'public',
    security: [],
    tags,
    summary: 'Exchange the one-time code of a login by a provider for tokens',
    headers: deviceHeader,
    body: { variable: 'input' },
    variables: withDevice,
    status: 200,
    responseHeaders: neverStored,
  }),
]);
