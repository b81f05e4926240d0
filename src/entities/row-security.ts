import type { EntityMetadata } from '@mikro-orm/core';

/**
 * The second wall behind the filters of tenancy.ts: policies in the database itself, made here from the metadata for
 * every table there is, so that a new entity has them with its first migration and nobody needs to remember.
 */

/** Serves requests: sees the rows of the organization that its transaction names, and without a name none. */
export const REQUEST_ROLE = 'opsgraph_app';
/** Does what belongs to no single tenant: see src/database/system-work.ts. */
export const SYSTEM_ROLE = 'opsgraph_system';
/** The setting in which a transaction names its organization. */
export const ORGANIZATION_SETTING = 'app.organization';

/** Tables whose rows are reached through their parent alone: the child's column and the parent's table. */
const ownedThrough: Readonly<Record<string, readonly [column: string, parent: string]>> = {
  run_message: ['run_id', 'run'],
  run_task: ['run_id', 'run'],
  source_watermark: ['pipeline_id', 'pipeline'],
};

type Privilege = 'select' | 'insert' | 'update' | 'delete';
const everything: readonly Privilege[] = ['select', 'insert', 'update', 'delete'];

/** Tables that belong to no tenant, and what a request may do with them. */
export const tenantless: Readonly<Record<string, { why: string; requests: readonly Privilege[] }>> = {
  login_guard: { why: 'an address nobody has is counted as well', requests: everything },
  mail: { why: 'who asks for a password may have any address', requests: ['insert'] },
  oidc_artifact: { why: "the issuer's memory, before anybody is known", requests: [] },
  oidc_client: { why: 'a client is known before its workspace', requests: [] },
  signing_key: { why: 'one set for the installation', requests: [] },
  webhook_position: { why: 'one place in the log of all organizations', requests: [] },
};

/** The wall of one table, to be set on its metadata. @throws naming an entity of which it is not known whose it is */
export function buildWall(meta: EntityMetadata): void {
  const condition = tenantCondition(meta);
  if (condition === undefined) return;
  meta.policies = [
    { name: 'tenant', roles: [REQUEST_ROLE], using: condition, check: condition },
    { name: 'system', roles: [SYSTEM_ROLE], using: 'true', check: 'true' },
  ];
}

/** What the request role may do with a table; the system role may do everything. */
export function requestPrivileges({ tableName }: EntityMetadata): readonly Privilege[] {
  return tenantless[tableName]?.requests ?? everything;
}

/** In a subquery, so that PostgreSQL asks for the setting once a statement and not once a row. */
const organization = `(select current_setting('${ORGANIZATION_SETTING}', true))`;

function tenantCondition(meta: EntityMetadata): string | undefined {
  const { tableName, className, properties } = meta;
  if (tableName in tenantless) return undefined;
  if (tableName === 'organization') return `id = ${organization}`;
  if ('organizationId' in properties) return `organization_id = ${organization}`;
  const parent = ownedThrough[tableName];
  // The parent's own policy applies within the subquery.
  if (parent) return `exists (select 1 from ${parent[1]} owner where owner.id = ${tableName}.${parent[0]})`;
  throw new Error(
    `${className} has no organizationId: say in src/entities/row-security.ts through whom it is owned, or why it belongs to no tenant.`,
  );
}
