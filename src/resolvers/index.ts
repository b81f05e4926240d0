import type { ClassType } from 'type-graphql';

/** The explicit list: a resolver that is not here is not in the graph. */
export const resolvers: readonly ClassType[] = [];
