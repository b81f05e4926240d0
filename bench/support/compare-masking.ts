import 'reflect-metadata';
import { type GraphQLObjectType, type GraphQLSchema, parse } from 'graphql';
import type { PlatformRole, RequestContext } from '../../src/context.js';
import { buildGraph } from '../../src/graph/build-schema.js';
import { createExecutor } from '../../src/graph/executor.js';
import { resolvers } from '../../src/resolvers/index.js';

const PIPELINES = 1_000;
const FIELDS = [
  ...['id', 'workspaceId', 'name', 'description', 'version', 'status', 'scheduleCron', 'tags'],
  ...['sourceConnectionId', 'targetConnectionId', 'maxRetries', 'retryDelaySeconds', 'timeoutSeconds'],
  ...['notifications', 'isActive', 'createdAt', 'updatedAt', 'createdBy'],
];
const source = `query List { pipelines { ${FIELDS.join(' ')} } }`;

const id = '01a1fb3c-6ba4-7748-a964-b27f88c25ee9';
const rows = Array.from({ length: PIPELINES }, (_, index) => ({
  id,
  workspaceId: id,
  name: `orders_daily_${index}`,
  description:
    index % 10 === 0 ? 'Ask jan.kowalski@example.com or +48 601 234 567' : 'Orders of the day, by region',
  version: 1,
  status: 'SUCCESS',
  scheduleCron: '0 6 * * 1-5',
  tags: ['sales', 'daily'],
  sourceConnectionId: id,
  targetConnectionId: null,
  maxRetries: 3,
  retryDelaySeconds: 60,
  timeoutSeconds: 3_600,
  notifications: { onFailure: ['ops'] },
  isActive: true,
  createdAt: new Date(),
  updatedAt: new Date(),
  createdBy: 'demo-engineer',
}));

export interface Listing {
  name: string;
  list(): Promise<string>;
}

/** The same list in memory, as JSON: unmasked, for who may write pipelines, and for who may only read them. */
export function listings(): Listing[] {
  return [
    { name: 'unmasked', list: lister(unmasked(graph()), 'VIEWER') },
    { name: 'engineer', list: lister(graph(), 'ENGINEER') },
    { name: 'viewer', list: lister(graph(), 'VIEWER') },
  ];
}

function graph(): GraphQLSchema {
  const schema = buildGraph(resolvers);
  const field = schema.getQueryType()?.getFields()['pipelines'];
  if (field) field.resolve = () => rows;
  return schema;
}

/** As the schema would be without masking: plain properties. */
function unmasked(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values((schema.getType('Pipeline') as GraphQLObjectType).getFields())) {
    delete field.resolve;
  }
  return schema;
}

function lister(schema: GraphQLSchema, role: PlatformRole): () => Promise<string> {
  const executor = createExecutor(schema);
  const document = parse(source);

  const operation = { document, operationName: 'List', documentKey: source };
  const context = { caller: { platform: { roles: [role] } } } as unknown as RequestContext;
  return async () => {
    const result = await executor.execute(operation, { context, variables: {} });
    if (result.errors) throw new Error(result.errors[0]?.message);
    return JSON.stringify(result.data);
  };
}
