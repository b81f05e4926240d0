import {
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isInputObjectType,
  isInputType,
  Kind,
  typeFromAST,
  type ValueNode,
  type VariableDefinitionNode,
  valueFromASTUntyped,
} from 'graphql';
import type { Row } from 'rest-graphql-bridge';
import type { RequestContext } from '../../src/context.js';
import { newUuid } from '../../src/entities/ids.js';
import {
  argumentSlots,
  type Chosen,
  fill,
  inputSlots,
  kindOf,
  kindShown,
  type Reference,
  referencesIn,
  type Slot,
} from './arguments.js';
import { doorOf } from './graphql-operations.js';
import type { Actor } from './houses.js';
import type { Answer, Operation } from './operation.js';
import { type KindName, make, values } from './reference-kinds.js';

type AnyRow = Row<RequestContext>;

/** A row with the way to ask for it. */
export interface RowOperation extends Operation {
  readonly row: AnyRow;
  path(actor: Actor, chosen?: Chosen): Promise<string>;
}

/** @throws naming the row when it is not known where one of its parameters goes */
export function rowOperation(schema: GraphQLSchema, row: AnyRow): RowOperation {
  const name = `${row.kind === 'webSocket' ? 'WEBSOCKET' : row.method} ${row.path}`;
  const root = rootOf(schema, row);
  const parameters = [
    ...pathNames(row).map((place) => ({ in: 'path', place })),
    ...Object.keys(row.query).map((place) => ({ in: 'query', place })),
  ];
  const body = bodySlots(schema, row, root.slot);
  const places = parameters.flatMap(({ in: where, place }) => {
    const slot = destination(root, row, where, place);
    if (!slot) {
      if (where === 'path') throw new Error(`${name}: :${place} does not reach an argument of the operation`);
      return [];
    }
    const path = [where, place];
    const required = where === 'path' || row.query[place]?.required === true;
    return [{ slot, path, where, place, required, kind: kindOf(slot) }];
  });
  const references: Reference[] = [
    ...places.flatMap(({ kind, path, required }) => (kind ? [{ kind, path, required }] : [])),
    ...referencesIn(body),
  ];

  const path = async (actor: Actor, chosen?: Chosen) => {
    let filled = row.path;
    const query = new URLSearchParams();
    for (const { slot, path: at, where, place, required, kind } of places) {
      const isChosen = chosen?.path.join() === at.join();
      if (!isChosen && !required) continue;
      const value = isChosen ? chosen.id : await own(slot, kind, actor);
      if (where === 'path') filled = filled.replace(`:${place}`, encodeURIComponent(String(value)));
      else query.set(place, String(value));
    }
    return query.size === 0 ? filled : `${filled}?${query}`;
  };

  return {
    name,
    row,
    reads: row.method === 'GET',
    door: row.access === 'public' ? 'public' : root.door,
    references,
    shows: kindShown(root.field),
    names: (reference) => reference.path[0] === 'path',
    path,
    async send(actor, chosen) {
      const target = await path(actor, chosen);
      const call = row.path.startsWith('/v1') ? actor.asItsm : actor.asPlatform;
      const payload = body.length === 0 ? undefined : await fill(body, actor, chosen);
      return answerOf(await call(row.method, target, payload));
    },
  };
}

const codes: Record<number, string> = {
  400: 'VALIDATION_ERROR',
  403: 'AUTHORIZATION_ERROR',
  404: 'NOT_FOUND',
};

function answerOf({ status, body }: Awaited<ReturnType<Actor['asItsm']>>): Answer {
  return { refusal: status < 300 ? undefined : (codes[status] ?? String(status)), body };
}

interface Root {
  readonly node: FieldNode;
  readonly field: GraphQLField<unknown, unknown>;
  readonly variables: readonly VariableDefinitionNode[];
  readonly door: Operation['door'];
  /** Slots of the arguments by name. */
  slot(name: string): Slot | undefined;
}

function rootOf(schema: GraphQLSchema, row: AnyRow): Root {
  const operation = getOperationAST(row.document);
  const type = operation && schema.getRootType(operation.operation);
  const node = operation?.selectionSet.selections.find((selection) => selection.kind === Kind.FIELD);
  const field = node && type?.getFields()[node.name.value];
  if (!operation || !type || !node || !field) throw new Error(`${row.path}: its document has no root field`);
  const slots = argumentSlots(type.name, field);
  return {
    node,
    field,
    variables: operation.variableDefinitions ?? [],
    door: doorOf(field),
    slot: (name) => slots.find((slot) => slot.name === name),
  };
}

function pathNames(row: AnyRow): string[] {
  return [...row.path.matchAll(/:(\w+)/g)].flatMap(([, name]) => name ?? []);
}

/** The body's fields, as the input type has them without those a row drops. */
function bodySlots(schema: GraphQLSchema, row: AnyRow, slot: Root['slot']): Slot[] {
  if (row.kind !== 'json' || row.body === undefined || row.body.type === 'none') return [];
  const { variable, type = 'json', readOnly = [] } = row.body;
  const definition = getOperationAST(row.document)?.variableDefinitions?.find(
    (candidate) => candidate.variable.name.value === variable,
  );
  const input = definition && typeFromAST(schema, definition.type as never);
  const named = isInputType(input) ? getNamedType(input) : undefined;
  if (type !== 'json' || !isInputObjectType(named))
    throw new Error(`${row.method} ${row.path}: the matrix does not build a body of type ${type}`);
  const returns = slot(variable ?? '')?.returns ?? '';
  return inputSlots(named, { path: ['body'], returns }).filter(({ name }) => !readOnly.includes(name));
}

/** Where a parameter's value ends up: found by sending a value that nothing else has. */
function destination(root: Root, row: AnyRow, where: string, place: string): Slot | undefined {
  const sentinel = newUuid();
  const others = Object.fromEntries(pathNames(row).map((name) => [name, newUuid()]));
  const query = Object.fromEntries(Object.entries(row.query).map(([name, { fallback }]) => [name, fallback]));
  const sought = row.query[place]?.isList && where === 'query' ? [sentinel] : sentinel;
  const input = {
    params: where === 'path' ? { ...others, [place]: sentinel } : others,
    query: where === 'query' ? { ...query, [place]: sought } : query,
    headers: {},
    body: {},
    file: undefined,
    lastEventId: undefined,
    context: undefined as unknown as RequestContext,
  };
  const given = (row.variables?.(input) ?? {}) as Record<string, unknown>;
  for (const { name, value } of root.node.arguments ?? []) {
    const slot = root.slot(name.value);
    const found = slot && slotHolding(slot, resolved(value, given), sentinel);
    if (found) return found;
  }
  return undefined;
}

function resolved(node: ValueNode, variables: Record<string, unknown>): unknown {
  return valueFromASTUntyped(node, variables);
}

function slotHolding(slot: Slot, value: unknown, sentinel: string): Slot | undefined {
  if (value === sentinel || (Array.isArray(value) && value.includes(sentinel))) return slot;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const inner of inputSlots(slot.type, slot)) {
    const found = slotHolding(inner, (value as Record<string, unknown>)[inner.name], sentinel);
    if (found) return found;
  }
  return undefined;
}

async function own(slot: Slot, kind: KindName | undefined, actor: Actor): Promise<unknown> {
  const fixed = values[slot.coordinate];
  if (fixed) return fixed(actor);
  if (kind) return make(kind, actor);
  const { [slot.name]: value } = await fill([slot], actor, { path: slot.path, id: '' });
  return value;
}
