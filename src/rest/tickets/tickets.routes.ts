import { param, routes } from 'rest-graphql-bridge';
import { route } from '../route.js';
import {
  CreateTicketDocument,
  GetTicketDocument,
  ListTicketsDocument,
  UpdateTicketDocument,
} from './tickets.generated.js';

const tags = ['Tickets'];

const statuses = [
  'new',
  'open',
  'in_progress',
  'pending',
  'on_hold',
  'resolved',
  'closed',
  'cancelled',
] as const;
const priorities = ['critical', 'high', 'medium', 'low'] as const;
const types = ['incident', 'service_request', 'problem', 'task'] as const;
const sortFields = ['createdAt', 'updatedAt', 'priority', 'status', 'title', 'number', 'dueAt'] as const;

/** Bound on the values of one filter. */
const maxItems = 100;

const filters = {
  status: param.list(param.oneOf(statuses), { maxItems }),
  priority: param.list(param.oneOf(priorities), { maxItems }),
  type: param.list(param.oneOf(types), { maxItems }),
  assigneeId: param.list(param.string(), { maxItems }),
  teamId: param.list(param.string(), { maxItems }),
  requesterId: param.list(param.string(), { maxItems }),
  category: param.list(param.string(), { maxItems }),
  tag: param.list(param.string(), { maxItems }),
  q: param.string({
    description: 'Full text over title and description: words, "a phrase", or, -not.',
    maxLength: 500,
  }),
  createdAfter: param.dateTime(),
  createdBefore: param.dateTime(),
  updatedAfter: param.dateTime(),
};

/** What GET answers and a client may send back unchanged; a new ticket has no state to send. */
const readOnly = [
  'id',
  'organizationId',
  'number',
  'source',
  'externalRefs',
  'createdAt',
  'updatedAt',
  'resolvedAt',
  'closedAt',
  'version',
];

export const ticketRoutes = routes(import.meta.url, [
  route(ListTicketsDocument, {
    method: 'GET',
    path: '/v1/tickets',
    tags,
    summary: 'The tickets the caller may see',
    query: {
      ...filters,
      page: param.int({ min: 1, description: 'Not together with a cursor.' }),
      limit: param.int({ min: 1, max: 1000, default: 25 }),
      sortBy: param.oneOf(sortFields, { default: 'createdAt' }),
      sortOrder: param.oneOf(['asc', 'desc'], { default: 'desc' }),
      starting_after: param.string({ description: 'Id of the last item already seen.' }),
      ending_before: param.string({ description: 'Id of the first item already seen.' }),
    },
    variables: ({ query: { page, limit, sortBy, sortOrder, starting_after, ending_before, ...filter } }) => ({
      filter,
      page,
      limit,
      sortBy,
      sortOrder,
      startingAfter: starting_after,
      endingBefore: ending_before,
    }),
    nulls: { hasMore: 'omit', cursor: 'omit', 'data.assigneeId': 'omit' },
  }),
  route(CreateTicketDocument, {
    method: 'POST',
    path: '/v1/tickets',
    tags,
    summary: 'File a ticket',
    body: { variable: 'input', readOnly },
    status: 201,
    responseHeaders: ({ createTicket }) => ({ location: `/v1/tickets/${createTicket.id}` }),
    nulls: { assigneeId: 'omit' },
  }),
  route(GetTicketDocument, {
    method: 'GET',
    path: '/v1/tickets/:id',
    tags,
    summary: 'One ticket',
    variables: ({ params }) => params,
    nulls: { assigneeId: 'omit' },
  }),
  route(UpdateTicketDocument, {
    method: 'PATCH',
    path: '/v1/tickets/:id',
    tags,
    summary: 'Change a ticket; null clears, what is absent stays',
    body: { variable: 'input', readOnly },
    variables: ({ params, body }) => ({ id: params.id, input: body }),
    nulls: { assigneeId: 'omit' },
  }),
]);
