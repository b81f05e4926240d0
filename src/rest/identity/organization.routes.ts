import { routes } from 'rest-graphql-bridge';
import { route } from '../route.js';
import { GetOrganizationDocument, UpdateOrganizationDocument } from './organization.generated.js';

const tags = ['Organization'];

export const organizationRoutes = routes(import.meta.url, [
  route(GetOrganizationDocument, {
    method: 'GET',
    path: '/v1/organization',
    tags,
    summary: "The caller's organization",
  }),
  route(UpdateOrganizationDocument, {
    method: 'PATCH',
    path: '/v1/organization',
    tags,
    summary: 'Rename the organization or replace its settings',
    body: { variable: 'input', readOnly: ['id', 'slug', 'createdAt'] },
  }),
]);
