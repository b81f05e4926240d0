import type { FilterDef } from '@mikro-orm/core';

/**
 * The one place where tenant isolation is written down. Every entity of a tenant carries one of these filters; a
 * request's EntityManager gets their parameters when its caller is known (src/context.ts). A filter without its
 * parameter throws, so that forgetting the caller fails closed.
 */
export const ORGANIZATION_FILTER = 'organization';
export const WORKSPACE_FILTER = 'workspace';

export const organizationFilter: FilterDef = {
  name: ORGANIZATION_FILTER,
  cond: (args: Record<string, unknown>) => ({ organizationId: args['organizationId'] }),
  default: true,
  args: true,
};

/** Another organization's row does not exist; another workspace's of the same one is told apart by the domain (403). */
export const workspaceFilter: FilterDef = {
  name: WORKSPACE_FILTER,
  cond: (args: Record<string, unknown>) => ({ workspaceId: args['workspaceId'] }),
  default: true,
  args: true,
};
