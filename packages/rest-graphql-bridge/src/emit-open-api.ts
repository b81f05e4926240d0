import { type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';
import { policyTree } from './null-policy.js';
import { OpenApiSchemas, objectSchema, type ScalarSchemas } from './open-api-schemas.js';
import type { Param, SchemaObject } from './param.js';
import type { Segment } from './path-trie.js';
import { type PlannedRow, planTables } from './plan-table.js';
import type { BodyOptions, JsonRow, ParamTable, RouteTable, Row } from './row.js';
import { bodyTypeOf } from './serve-json.js';
import { surfaceOf } from './surface.js';

export interface OpenApiOptions {
  readonly schema: GraphQLSchema;
  readonly tables: readonly RouteTable<never>[];
  readonly info: { readonly title: string; readonly version: string; readonly [key: string]: unknown };
  readonly servers?: readonly { readonly url: string; readonly description?: string }[];
  readonly securitySchemes?: { readonly [name: string]: SchemaObject };
  /** The requirement of rows that state none. */
  readonly security?: readonly { readonly [scheme: string]: readonly string[] }[];
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  /** Only rows whose path this covers, by whole segments. Default: all. */
  readonly prefix?: string;
  /** Body of every error answer. */
  readonly errorSchema: SchemaObject;
  /** Error statuses of a row beside those this module knows: 400, 404, 413, 415, 426 where they can happen. */
  readonly errorStatuses?: (row: Pick<Row, 'method' | 'path' | 'access'>) => readonly number[];
  /** JSON Schemas of the host's own scalars. */
  readonly scalars?: ScalarSchemas;
}

/** An OpenAPI 3.1 document. The same tables and schema always give the same document, key for key. */
export type OpenApiDocument = { readonly openapi: string; readonly [key: string]: unknown };

/**
 * Describes tables of rows: parameters from their parsers, bodies from the GraphQL input types, responses from the
 * selection sets with aliases and null policies.
 * @throws Error listing every unusable row, as `createBridge` does.
 */
export function emitOpenApi(options: OpenApiOptions): OpenApiDocument {
  const { schema, tables, info, servers, securitySchemes, security, tags, prefix = '/' } = options;
  const emitter = new OperationEmitter(options);
  const paths: { [path: string]: { [method: string]: SchemaObject } } = {};
  for (const plan of planTables(schema, tables)) {
    if (!surfaceOf([{ prefix, errors: NO_ERRORS }], plan.row.path)) continue;
    const path = templateOf(plan.segments);
    paths[path] ??= {};
    const method = plan.row.method.toLowerCase();
    // OpenAPI can't hold a WebSocket beside a GET of the same path: the request that can be described wins.
    if (plan.row.kind === 'webSocket' && paths[path][method]) continue;
    paths[path][method] = emitter.operation(plan);
  }
  return {
    openapi: '3.1.0',
    info,
    ...(servers ? { servers } : {}),
    ...(tags ? { tags } : {}),
    ...(security ? { security } : {}),
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      schemas: emitter.schemas.components,
      ...(securitySchemes ? { securitySchemes } : {}),
    },
  };
}

const NO_ERRORS = { render: () => ({ status: 500 }) };

function templateOf(segments: readonly Segment[]): string {
  return `/${segments.map((segment) => ('name' in segment ? `{${segment.name}}` : segment.literal)).join('/')}`;
}

class OperationEmitter {
  readonly schemas: OpenApiSchemas;
  readonly #options: OpenApiOptions;
  readonly #ids = new Map<string, number>();

  constructor(options: OpenApiOptions) {
    this.#options = options;
    this.schemas = new OpenApiSchemas(options.scalars ?? {});
    this.schemas.component('Error', this, () => options.errorSchema);
  }

  operation(plan: PlannedRow): SchemaObject {
    const { row, definition } = plan;
    const operationId = this.#idOf(plan.operation.name);
    const description = row.description ?? this.#fieldDescription(definition);
    const requestBody = row.kind === 'json' ? this.#requestBody(row.body, plan) : undefined;
    const parameters = parametersOf(row, plan.segments);
    return {
      operationId,
      ...(row.summary === undefined ? {} : { summary: row.summary }),
      ...(description === undefined ? {} : { description }),
      ...(row.tags ? { tags: row.tags } : {}),
      ...(row.deprecated ? { deprecated: true } : {}),
      ...(parameters.length > 0 ? { parameters } : {}),
      ...(requestBody ? { requestBody } : {}),
      responses: { ...this.#success(plan, operationId), ...this.#errors(plan, parameters.length > 0) },
      ...(row.security ? { security: row.security } : {}),
    };
  }

  /** The operation's name; a second row that runs the same operation gets a number behind it. */
  #idOf(name: string): string {
    const count = (this.#ids.get(name) ?? 0) + 1;
    this.#ids.set(name, count);
    return count === 1 ? name : `${name}_${count}`;
  }

  #fieldDescription({ operation, selectionSet }: OperationDefinitionNode): string | undefined {
    const [field] = selectionSet.selections;
    if (field?.kind !== Kind.FIELD) return undefined;
    const root = this.#options.schema.getRootType(operation);
    return root?.getFields()[field.name.value]?.description ?? undefined;
  }

  #requestBody(body: BodyOptions | undefined, plan: PlannedRow): SchemaObject | undefined {
    const type = bodyTypeOf(body);
    if (body === undefined || type === 'none') return undefined;
    const content = {
      json: () => ({
        'application/json': { schema: plan.bodyType ? this.schemas.input(plan.bodyType) : {} },
      }),
      freeform: () => ({ 'application/json': { schema: {} } }),
      text: () => ({ 'text/plain': { schema: { type: 'string' } } }),
      multipart: () => ({ 'multipart/form-data': { schema: formSchema(body) } }),
    }[type]();
    return {
      ...(body.description === undefined ? {} : { description: body.description }),
      required: body.optional !== true,
      content,
    };
  }

  #success(plan: PlannedRow, operationId: string): SchemaObject {
    const { row } = plan;
    if (row.kind === 'webSocket') return { 101: { description: 'Switching to the WebSocket protocol' } };
    if (row.kind === 'sse') {
      return {
        200: { description: 'A stream of events', content: { 'text/event-stream': { schema: TEXT } } },
      };
    }
    const type = row.response ?? 'json';
    const fixed = row.status ?? (type === 'none' ? 204 : 200);
    // A status computed from the result is only known to be a success.
    const status = typeof fixed === 'number' ? fixed : '2XX';
    if (type === 'none') return { [status]: { description: 'No content' } };
    if (type === 'text')
      return { [status]: { description: 'Success', content: { 'text/plain': { schema: TEXT } } } };
    const schema = row.responseSchema ?? this.#responseSchema(row, plan, operationId);
    return { [status]: { description: 'Success', content: { 'application/json': { schema } } } };
  }

  #responseSchema(row: JsonRow<never>, { traced }: PlannedRow, operationId: string): SchemaObject {
    if (row.response === 'freeform' || !traced) return {};
    return this.schemas.component(`${operationId}Response`, traced, () =>
      this.schemas.response(traced, policyTree(row.nulls, [])),
    );
  }

  #errors({ row, bodyType }: PlannedRow, hasParameters: boolean): SchemaObject {
    const hasBody = row.kind === 'json' && bodyTypeOf(row.body) !== 'none';
    const statuses = new Set(this.#options.errorStatuses?.(row) ?? []);
    if (hasParameters || hasBody || bodyType) statuses.add(400);
    if (row.path.includes('/:')) statuses.add(404);
    if (row.kind === 'webSocket') statuses.add(426);
    if (hasBody) for (const status of [413, 415]) statuses.add(status);
    const answer = (description: string) => ({
      description,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    });
    const named = [...statuses].sort((a, b) => a - b).map((status) => [status, answer(`Error ${status}`)]);
    return { ...Object.fromEntries(named), default: answer('Any other error') };
  }
}

const TEXT: SchemaObject = { type: 'string' };

function parametersOf(row: Row<never>, segments: readonly Segment[]): readonly SchemaObject[] {
  const inPath = segments.flatMap((segment) => {
    if (!('name' in segment)) return [];
    const param = row.params[segment.name];
    return [{ ...parameter('path', segment.name, param), required: true }];
  });
  return [...inPath, ...tableOf('query', row.query), ...tableOf('header', row.headers)];
}

function tableOf(place: string, table: ParamTable): readonly SchemaObject[] {
  return Object.entries(table).map(([name, param]) => parameter(place, name, param));
}

function parameter(place: string, name: string, param: Param<unknown> | undefined): SchemaObject {
  return {
    name,
    in: place,
    ...(param?.description === undefined ? {} : { description: param.description }),
    required: param?.required === true && param.fallback === undefined,
    // A list may also be given with commas; OpenAPI can only name one way, and this one is its default.
    ...(param?.isList && place === 'query' ? { style: 'form', explode: true } : {}),
    schema: param?.schema ?? TEXT,
  };
}

function formSchema(body: BodyOptions): SchemaObject {
  const field = body.fileField ?? 'file';
  const file = { type: 'string', contentMediaType: 'application/octet-stream' };
  return { ...objectSchema({ [field]: file }, body.optional ? [] : [field]), additionalProperties: TEXT };
}
