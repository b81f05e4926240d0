import {
  type DocumentNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  getOperationAST,
  isCompositeType,
  isListType,
} from 'graphql';
import { type ComplexityEstimator, fieldExtensionsEstimator, getComplexity } from 'graphql-query-complexity';
import { graphLimits } from './limits.js';

/** Rows of a page when the client names no limit (both documents). */
const PAGE = 25;
/** The largest limit any list takes (both documents); a larger one is the resolver's to refuse. */
const LARGEST_PAGE = 1_000;
/** Items of a list that takes no limit, such as the tasks of a run. */
const UNPAGED = 10;
/** Arguments that say how many rows a list has. */
const limitArguments = ['limit', 'size'] as const;

/**
 * Every object costs 1 times the rows it may come in; scalars are free, since tokens and aliases bound them. A field
 * with another price says so itself: `@Query(() => T, { complexity })`.
 */
const byRows: ComplexityEstimator = ({ field, type, args, childComplexity }) => {
  if (field.name.startsWith('__') || type.name.startsWith('__')) return 0;
  if (!isCompositeType(getNamedType(field.type))) return 0;
  const isList = isListType(getNullableType(field.type));
  const limit = limitArguments.find((name) => takes(field, name));
  if (limit !== undefined) {
    const rows = pageSize(args[limit]);
    return isList ? rows * (1 + childComplexity) : 1 + rows * childComplexity;
  }
  // The rows of a page type are counted by the limit of the field that returned the page.
  const rows = isList && !type.name.endsWith('Page') ? UNPAGED : 1;
  return rows * (1 + childComplexity);
};

const estimators = [fieldExtensionsEstimator(), byRows];

interface PricedOperation {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName: string | undefined;
  variables: Record<string, unknown> | undefined;
}

/**
 * Refuses an operation whose answer could hold more objects than the limit, and one that grows beyond all bounds once
 * its fragments are expanded.
 * @throws GraphQLError GRAPHQL_VALIDATION_FAILED, or BAD_USER_INPUT when the variables do not fit the operation.
 */
export function refuseCostly(operation: PricedOperation): void {
  const cost = knownCost(operation);
  if (cost <= graphLimits.cost) return;
  throw refusal(
    'GRAPHQL_VALIDATION_FAILED',
    `The operation may return ${cost} objects, the limit is ${graphLimits.cost}: ask for fewer rows or relations.`,
  );
}

/** Page sizes in use at a time; beyond them the costs of a document are worked out anew. */
const REMEMBERED_COSTS = 64;
const costs = new WeakMap<DocumentNode, Map<string, number>>();

/** Working out the cost of a list of tickets takes 25 µs of the 170 µs that its request takes; looking it up 1 µs. */
function knownCost(operation: PricedOperation): number {
  const ofDocument = costs.get(operation.document) ?? new Map<string, number>();
  costs.set(operation.document, ofDocument);
  const key = whatChangesCost(operation);
  const known = ofDocument.get(key);
  if (known !== undefined) return known;
  const cost = costOf(operation);
  if (ofDocument.size >= REMEMBERED_COSTS) ofDocument.clear();
  ofDocument.set(key, cost);
  return cost;
}

/**
 * Numbers, which may be page sizes, and booleans, which @skip and @include read; a `complexity` may use no others. Of
 * declared variables only: another name could be made to look like two of them.
 */
function whatChangesCost({ document, operationName, variables = {} }: PricedOperation): string {
  let key = operationName ?? '';
  for (const { variable } of getOperationAST(document, operationName)?.variableDefinitions ?? []) {
    const value = variables[variable.name.value];
    if (typeof value === 'number' || typeof value === 'boolean') key += ` ${variable.name.value}=${value}`;
  }
  return key;
}

function costOf({ schema, document, operationName, variables }: PricedOperation): number {
  try {
    return getComplexity({
      schema,
      query: document,
      estimators,
      maxQueryNodes: graphLimits.nodes,
      ...(operationName !== undefined && { operationName }),
      ...(variables && { variables }),
    });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    // The library has one error without nodes: too many of them after expanding fragments.
    const code = error.nodes === undefined ? 'GRAPHQL_VALIDATION_FAILED' : 'BAD_USER_INPUT';
    throw refusal(code, error.message, error);
  }
}

function refusal(code: string, message: string, cause?: GraphQLError): GraphQLError {
  return new GraphQLError(message, {
    ...(cause?.nodes && { nodes: cause.nodes }),
    extensions: { code, http: { status: 400 } },
  });
}

function takes(field: GraphQLField<unknown, unknown>, name: string): boolean {
  return field.args.some((argument) => argument.name === name);
}

function pageSize(limit: unknown): number {
  if (typeof limit !== 'number') return PAGE;
  return Math.min(Math.max(limit, 1), LARGEST_PAGE);
}
