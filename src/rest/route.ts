import { routeFor } from 'rest-graphql-bridge';
import type { RequestContext } from '../context.js';

/** What the context factory is told of a row: `public` rows are served without credentials. */
export type Access = 'public';

export const route = routeFor<RequestContext>();
