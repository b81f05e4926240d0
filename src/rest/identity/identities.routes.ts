import { routes } from 'rest-graphql-bridge';
import { byCreation, pageOf, pageQuery } from '../page-query.js';
import { route } from '../route.js';
import {
  LinkIdentityDocument,
  ListIdentitiesDocument,
  UnlinkIdentityDocument,
} from './identities.generated.js';

const tags = ['Linked identities'];

export const identityRoutes = routes(import.meta.url, [
  route(ListIdentitiesDocument, {
    method: 'GET',
    path: '/v1/auth/identities',
    tags,
    summary: 'The subjects of the OIDC issuer that are the caller',
    query: { ...pageQuery, ...byCreation },
    variables: ({ query }) => pageOf(query),
    nulls: { hasMore: 'omit', cursor: 'omit' },
  }),
  route(LinkIdentityDocument, {
    method: 'POST',
    path: '/v1/auth/identities/link',
    tags,
    summary: 'Link the subject of a platform token to the caller',
    body: { variable: 'input' },
    status: 201,
  }),
  route(UnlinkIdentityDocument, {
    method: 'DELETE',
    path: '/v1/auth/identities/:id',
    tags,
    summary: 'Undo a link',
    variables: ({ params }) => ({ id: params.id }),
    response: 'none',
    status: 204,
  }),
]);
