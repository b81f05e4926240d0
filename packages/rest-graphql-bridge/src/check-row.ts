import {
  type GraphQLInputType,
  type GraphQLSchema,
  isInputType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  typeFromAST,
  validate,
} from 'graphql';
import { parameterNames, parsePath, type Segment } from './path-trie.js';
import type { Row } from './row.js';
import { bodyTypeOf } from './serve-json.js';

/** A row's document and path, taken apart; only made for a row without problems. */
export interface CheckedRow {
  readonly row: Row<never>;
  readonly file: string;
  readonly segments: readonly Segment[];
  readonly definition: OperationDefinitionNode;
  /** The type of the variable that the body is checked against. */
  readonly bodyType: GraphQLInputType | undefined;
}

type Finding = CheckedRow | { readonly reasons: readonly string[] };

const BODILESS = new Set(['GET']);

/** Everything that would make a row fail later, found before the first request. */
export function checkRow(schema: GraphQLSchema, file: string, row: Row<never>): Finding {
  const reasons: string[] = [];
  const segments = segmentsOf(row, reasons);
  const definition = operationOf(row, reasons);
  const invalid = validate(schema, row.document).map((error) => error.message);
  reasons.push(...invalid);
  if (definition && invalid.length === 0) {
    checkKind(row, definition, reasons);
    checkVariables(schema, row, definition, reasons);
  }
  const bodyType = definition && bodyVariableType(schema, row, definition);
  checkBody(row, bodyType, reasons);
  checkParameters(row, segments, reasons);
  if (reasons.length > 0 || !definition) return { reasons };
  return { row, file, segments, definition, bodyType };
}

function segmentsOf(row: Row<never>, reasons: string[]): readonly Segment[] {
  try {
    return parsePath(row.path);
  } catch (error) {
    reasons.push(error instanceof Error ? error.message : String(error));
    return [];
  }
}

function operationOf(row: Row<never>, reasons: string[]): OperationDefinitionNode | undefined {
  const definitions = row.document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  if (definitions.length !== 1)
    reasons.push(`the document holds ${definitions.length} operations and not exactly one`);
  const [definition] = definitions;
  if (definition && !definition.name) reasons.push('the operation has no name');
  return definition;
}

function checkKind(row: Row<never>, definition: OperationDefinitionNode, reasons: string[]): void {
  const subscribes = definition.operation === OperationTypeNode.SUBSCRIPTION;
  const streams = row.kind !== 'json';
  if (streams && !subscribes)
    reasons.push(`a ${row.kind} row needs a subscription, not a ${definition.operation}`);
  if (!streams && subscribes) reasons.push('a subscription needs route.sse or route.webSocket');
  if (definition.operation === OperationTypeNode.MUTATION && row.method === 'GET') {
    reasons.push('GET must be safe and can not run a mutation');
  }
}

function checkVariables(
  schema: GraphQLSchema,
  row: Row<never>,
  definition: OperationDefinitionNode,
  reasons: string[],
): void {
  if (row.variables) return;
  const filled = row.kind === 'json' && !row.body?.optional ? row.body?.variable : undefined;
  for (const { variable, type, defaultValue } of definition.variableDefinitions ?? []) {
    const name = variable.name.value;
    if (name === filled || defaultValue || !isNonNullType(typeFromAST(schema, type))) continue;
    reasons.push(`nothing supplies the required variable $${name}`);
  }
}

function bodyVariableType(
  schema: GraphQLSchema,
  row: Row<never>,
  definition: OperationDefinitionNode,
): GraphQLInputType | undefined {
  const name = row.kind === 'json' ? row.body?.variable : undefined;
  const variable = definition.variableDefinitions?.find((node) => node.variable.name.value === name);
  const type = variable && typeFromAST(schema, variable.type);
  return isInputType(type) ? type : undefined;
}

function checkBody(row: Row<never>, bodyType: GraphQLInputType | undefined, reasons: string[]): void {
  if (row.kind !== 'json' || !row.body) return;
  const { variable } = row.body;
  const type = bodyTypeOf(row.body);
  if (BODILESS.has(row.method) && type !== 'none') reasons.push(`${row.method} takes no body`);
  if (variable !== undefined && !bodyType)
    reasons.push(`the operation has no variable $${variable} for the body`);
  if (type === 'json' && variable === undefined)
    reasons.push('a json body must name the variable it is checked against');
  if (type !== 'json' && row.body.readOnly && type !== 'freeform')
    reasons.push(`a ${type} body has no readOnly fields`);
}

function checkParameters(row: Row<never>, segments: readonly Segment[], reasons: string[]): void {
  const names = parameterNames(segments);
  for (const name of Object.keys(row.params)) {
    if (!names.includes(name)) reasons.push(`the path has no parameter :${name}`);
  }
  for (const name of new Set(names.filter((name, at) => names.indexOf(name) !== at))) {
    reasons.push(`the path names :${name} twice`);
  }
}
