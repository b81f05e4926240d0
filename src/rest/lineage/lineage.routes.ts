import { param, routes } from 'rest-graphql-bridge';
import { route } from '../route.js';
import { ListLineageEventsDocument } from './lineage.generated.js';

export const lineageRoutes = routes(import.meta.url, [
  route(ListLineageEventsDocument, {
    method: 'GET',
    path: '/api/v1/lineage/events',
    tags: ['lineage'],
    query: {
      runId: param.uuid(),
      limit: param.int({ min: 1, max: 1000, default: 100 }),
      after: param.int({ min: 0, description: 'Only what follows this id.' }),
    },
    variables: ({ query }) => query,
  }),
]);
