import { type DocumentNode, type GraphQLSchema, getOperationAST, Kind } from 'graphql';
import type { Permission } from '../../dist/domain/identity/index.js';
import type { Requirement } from '../../dist/resolvers/permission.js';

interface Operation {
  /** `Query.tickets` */
  field: string;
  requirement: Requirement;
  /** `GET /v1/tickets` */
  rest: string[];
}

/**
 * Who may do what, as a page: the roles' permissions and what each operation of the graph and of REST asks for, out of
 * the tables that decide it.
 */
export async function permissionsText(schema: GraphQLSchema): Promise<string> {
  const { itsmTables, platformTables } = await import('../../dist/rest/tables.js');
  const { leastRoleWith, platformMinimumRole, resources, rolePermissions } = await import(
    '../../dist/domain/identity/index.js'
  );
  const operations = await operationsOf(
    schema,
    [...itsmTables, ...platformTables].flatMap(({ rows }) => [...rows]),
  );
  const roles = Object.keys(rolePermissions) as (keyof typeof rolePermissions)[];
  const roleRows = resources.map((resource) => [
    resource,
    ...roles.map((role) => held(rolePermissions[role], resource)),
  ]);
  const itsm = operations.flatMap(({ field, requirement, rest }) =>
    'itsm' in requirement
      ? [
          [
            code(field),
            rest.map(code).join(', '),
            code(requirement.itsm),
            `${leastRoleWith(requirement.itsm)}`,
          ],
        ]
      : [],
  );
  const platform = operations.flatMap(({ field, requirement, rest }) =>
    'platform' in requirement
      ? [
          [
            code(field),
            rest.map(code).join(', '),
            requirement.platform,
            platformMinimumRole[requirement.platform],
          ],
        ]
      : [],
  );
  const open = operations.flatMap(({ field, requirement, rest }) =>
    'public' in requirement ? [[code(field), rest.map(code).join(', ')]] : [],
  );
  return `${[
    '# Who may do what',
    'Written by `npm run generate` from src/domain/identity/role-permissions.ts, platform-permissions.ts and the `@Permission` of each root field; `npm test` fails when it differs.',
    '## Roles of /v1',
    'A permission is resource:action:scope. `manage` implies the other four actions, a wider scope the narrower ones: all ⊃ team ⊃ own. The scope becomes a condition of the query. A super_admin reaches other organizations with X-Tenant-Slug, each time written into their audit log.',
    table(['', ...roles], roleRows),
    '## Operations of /v1',
    'The least permission an operation asks for; what it then shows or changes goes as far as the scope that is held. The role is the lowest that has it; an API key has what it was given, as long as its creator has it.',
    table(['GraphQL', 'REST', 'permission', 'role'], itsm),
    '## Operations of /api/v1',
    'The platform document ties kinds of access to its hierarchy of roles.',
    table(['GraphQL', 'REST', 'access', 'role'], platform),
    '## Open to everybody',
    table(['GraphQL', 'REST'], open),
  ].join('\n\n')}\n`;
}

async function operationsOf(
  schema: GraphQLSchema,
  rows: readonly { method: string; path: string; document: DocumentNode }[],
): Promise<Operation[]> {
  const { requirementOf } = await import('../../dist/resolvers/permission.js');
  const rest = new Map<string, string[]>();
  for (const { method, path, document } of rows) {
    for (const field of rootFieldsOf(schema, document))
      rest.set(field, [...(rest.get(field) ?? []), `${method} ${path}`]);
  }
  const types = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  return types.flatMap((type) =>
    Object.values(type?.getFields() ?? {})
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .flatMap((field) => {
        const requirement = requirementOf(field);
        const name = `${type?.name}.${field.name}`;
        return requirement ? [{ field: name, requirement, rest: rest.get(name) ?? [] }] : [];
      }),
  );
}

function rootFieldsOf(schema: GraphQLSchema, document: DocumentNode): string[] {
  const operation = getOperationAST(document);
  const type = operation && schema.getRootType(operation.operation);
  return (operation?.selectionSet.selections ?? []).flatMap((selection) =>
    selection.kind === Kind.FIELD ? [`${type?.name}.${selection.name.value}`] : [],
  );
}

/** `create own, read team` */
function held(permissions: readonly Permission[], resource: string): string {
  return permissions
    .map((permission) => permission.split(':'))
    .filter(([name]) => name === resource)
    .map(([, action, scope]) => `${action} ${scope}`)
    .join(', ');
}

function code(text: string): string {
  return `\`${text}\``;
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
