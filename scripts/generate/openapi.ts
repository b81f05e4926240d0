import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { GraphQLSchema } from 'graphql';
import type { RouteTable, SchemaObject } from 'rest-graphql-bridge';
import type { Requirement } from '../../dist/resolvers/permission.js';

/** One OpenAPI document per surface; `tables` and `schemes` name what src/rest/tables.ts and the documents call it. */
const surfaces = {
  itsm: {
    title: 'Opsgraph: IT service management',
    tables: 'itsmTables',
    schemes: {
      bearer: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: 'From POST /v1/auth/login.',
      },
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'From POST /v1/api-keys.' },
      cookie: {
        type: 'apiKey',
        in: 'cookie',
        name: 'itsm_auth_token',
        description:
          'Set by a login with the header X-Browser-Login; writes only from pages of the same origin.',
      },
    },
    error: object({
      success: { type: 'boolean', const: false },
      error: object({
        code: { type: 'string', description: 'Machine-readable.', examples: ['VALIDATION_ERROR'] },
        message: { type: 'string' },
        details: { type: ['object', 'null'], description: 'Of a refused field: field and constraint.' },
        requestId: { type: 'string', examples: ['req_01j9z3k4m5n6p7q8r9s0t1v2w3'] },
        timestamp: { type: 'string', format: 'date-time' },
        path: { type: 'string' },
      }),
    }),
  },
  platform: {
    title: 'Opsgraph: data integration',
    tables: 'platformTables',
    schemes: {
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'From the OIDC issuer.' },
    },
    error: object(
      {
        error: { type: 'string', description: 'Machine-readable.', examples: ['BAD_REQUEST'] },
        message: { type: 'string' },
        timestamp: { type: 'string', format: 'date-time' },
      },
      {
        details: { type: 'array', items: object({ field: { type: 'string' }, message: { type: 'string' } }) },
        service: { type: 'string', description: 'Which one is away.' },
        retryAfter: { type: 'integer', description: 'Seconds.' },
      },
    ),
  },
} as const;

/** What any row may answer beside what its own shape tells. */
const always = [429, 500, 503];
const refusals = [401, 403];

/**
 * An OpenAPI 3.1 document per surface. Each operation names what its caller must hold: a permission on /v1, the lowest
 * role on /api/v1 (OpenAPI 3.1 allows role names for every kind of scheme).
 * @returns text by file name, relative to `root`
 */
export async function openApiTexts(root: string, schema: GraphQLSchema): Promise<Map<string, string>> {
  const { emitOpenApi, param } = await import('rest-graphql-bridge');
  const { isRepeatable } = await import('../../dist/rest/repeatable.js');
  const tables = await import('../../dist/rest/tables.js');
  const { requirementsOf } = await import('../../dist/graph/operation-check.js');
  const { platformMinimumRole } = await import('../../dist/domain/identity/index.js');
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));

  const holds = (requirement: Requirement): string[] => {
    if ('itsm' in requirement) return [requirement.itsm];
    return 'platform' in requirement ? [platformMinimumRole[requirement.platform]] : [];
  };
  const idempotencyKey = param.string({
    maxLength: 255,
    description:
      'Whoever repeats the request with the same key within 24 hours gets the first answer, and nothing is made twice.',
  });
  const headersOf = ({ path, headers, ...row }: RouteTable<never>['rows'][number]) =>
    path.startsWith('/v1/') && isRepeatable({ status: undefined, ...row })
      ? { ...headers, 'Idempotency-Key': idempotencyKey }
      : headers;
  /** Any one of the schemes does. */
  const secured = ({ file, rows }: RouteTable<never>, schemes: object): RouteTable<never> => ({
    file,
    rows: rows.map((row) => {
      const held = requirementsOf(schema, row.document).flatMap(holds);
      const security = row.security ?? Object.keys(schemes).map((scheme) => ({ [scheme]: held }));
      return { ...row, headers: headersOf(row), security };
    }),
  });

  const texts = Object.entries(surfaces).map(([name, surface]): [string, string] => {
    const rows: readonly RouteTable<never>[] = tables[surface.tables];
    const document = emitOpenApi({
      schema,
      tables: rows.map((table) => secured(table, surface.schemes)),
      info: { title: surface.title, version, license: { name: 'MIT', identifier: 'MIT' } },
      servers: [{ url: '/' }],
      securitySchemes: surface.schemes,
      errorSchema: surface.error,
      errorStatuses: ({ access }) => (access === 'public' ? always : [...refusals, ...always]),
    });
    return [`schema/openapi/${name}.json`, `${JSON.stringify(document, null, 2)}\n`];
  });
  return new Map(texts);
}

function object(
  required: Record<string, SchemaObject>,
  optional: Record<string, SchemaObject> = {},
): SchemaObject {
  return {
    type: 'object',
    required: Object.keys(required),
    properties: { ...required, ...optional },
  };
}
