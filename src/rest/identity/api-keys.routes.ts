import { routes } from 'rest-graphql-bridge';
import { byCreation, pageOf, pageQuery } from '../page-query.js';
import { route } from '../route.js';
import {
  CreateApiKeyDocument,
  DeleteApiKeyDocument,
  GetApiKeyDocument,
  ListApiKeysDocument,
  RotateApiKeyDocument,
  UpdateApiKeyDocument,
} from './api-keys.generated.js';
import { neverStored } from './never-stored.js';

const tags = ['API keys'];
/** What GET answers and a client may send back unchanged. */
const readOnly = ['id', 'key', 'lastUsedAt', 'createdById', 'createdAt', 'updatedAt'];

export const apiKeyRoutes = routes(import.meta.url, [
  route(ListApiKeysDocument, {
    method: 'GET',
    path: '/v1/api-keys',
    tags,
    summary: 'The API keys the caller made, or all of the organization',
    query: { ...pageQuery, ...byCreation },
    variables: ({ query }) => pageOf(query),
    nulls: { hasMore: 'omit', cursor: 'omit' },
  }),
  route(CreateApiKeyDocument, {
    method: 'POST',
    path: '/v1/api-keys',
    tags,
    summary: 'Make an API key; it is shown this once',
    body: { variable: 'input', readOnly },
    status: 201,
    responseHeaders: ({ createApiKey }) => ({
      location: `/v1/api-keys/${createApiKey.id}`,
      ...neverStored(),
    }),
  }),
  route(GetApiKeyDocument, {
    method: 'GET',
    path: '/v1/api-keys/:id',
    tags,
    summary: 'One API key, without the key itself',
    variables: ({ params }) => ({ id: params.id }),
  }),
  route(UpdateApiKeyDocument, {
    method: 'PATCH',
    path: '/v1/api-keys/:id',
    tags,
    summary: 'Change an API key; what is absent stays',
    body: { variable: 'input', readOnly },
    variables: ({ params, body }) => ({ id: params.id, input: body }),
  }),
  route(RotateApiKeyDocument, {
    method: 'POST',
    path: '/v1/api-keys/:id/rotate',
    tags,
    summary: 'Give an API key a new secret; the one before is refused at once',
    body: { type: 'none' },
    variables: ({ params }) => ({ id: params.id }),
    status: 200,
    responseHeaders: neverStored,
  }),
  route(DeleteApiKeyDocument, {
    method: 'DELETE',
    path: '/v1/api-keys/:id',
    tags,
    summary: 'Delete an API key; it is refused at once',
    variables: ({ params }) => ({ id: params.id }),
    response: 'none',
    status: 204,
  }),
]);
