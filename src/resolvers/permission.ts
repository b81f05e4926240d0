import { Extensions } from 'type-graphql';
import type { Permission as ItsmPermission, PlatformAction } from '../domain/identity/index.js';

/**
 * What a caller must hold before a root field runs.
 * - `public`: nobody is asked for anything.
 * - `itsm`: the least permission, `resource:action:scope`; domain narrows the rows by the scope really held.
 * - `platform`: the kind of access, which the platform document ties to roles.
 */
export type Requirement =
  | { readonly public: true }
  | { readonly itsm: ItsmPermission }
  | { readonly platform: PlatformAction };

const EXTENSION = 'permission';

/** Every query, mutation and subscription carries one; a schema with a root field without it does not start. */
export function Permission(requirement: Requirement): MethodDecorator {
  return Extensions({ [EXTENSION]: requirement }) as MethodDecorator;
}

/** What `@Permission` wrote on a field, read back by the graph, by OpenAPI and by tests. */
export function requirementOf(field: {
  readonly extensions: Readonly<Record<string, unknown>>;
}): Requirement | undefined {
  return field.extensions[EXTENSION] as Requirement | undefined;
}
