import { param, routes } from 'rest-graphql-bridge';
import { byCreation, pageOf, pageQuery } from '../page-query.js';
import { route } from '../route.js';
import { GetEventDocument, ListEventsDocument, ListEventTypesDocument } from './events.generated.js';

const tags = ['events'];

export const eventRoutes = routes(import.meta.url, [
  route(ListEventsDocument, {
    method: 'GET',
    path: '/v1/events',
    tags,
    summary: 'The event log of the organization, 30 days back',
    query: {
      type: param.list(param.string(), { description: 'Any of them.' }),
      after: param.int({
        min: 0,
        description: 'seq of the last event seen; with sortOrder asc the log goes on from there.',
      }),
      ...pageQuery,
      ...byCreation,
    },
    variables: ({ query }) => ({ types: query.type, after: query.after, ...pageOf(query) }),
    nulls: { hasMore: 'omit', cursor: 'omit' },
  }),
  route(ListEventTypesDocument, {
    method: 'GET',
    path: '/v1/events/types',
    tags,
    summary: 'Every type of event with its meaning and the JSON Schema of its payload',
    select: ({ eventTypes }) => ({ data: eventTypes }),
  }),
  route(GetEventDocument, {
    method: 'GET',
    path: '/v1/events/:id',
    tags,
    summary: 'One event of the log',
    variables: ({ params }) => ({ id: params.id }),
  }),
]);
