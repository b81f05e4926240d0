import {
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import type { Actor } from './houses.js';
import { type KindName, kinds, make, noReferences, pointsAt, values } from './reference-kinds.js';

/** A place in an operation where an id of something stands. */
export interface Reference {
  readonly path: readonly string[];
  readonly kind: KindName;
  readonly required: boolean;
}

/** The one id of an operation that is chosen; every other one is new and the actor's own. */
export interface Chosen {
  readonly path: readonly string[];
  readonly id: string;
}

/** An argument or a field of an input. */
export interface Slot {
  /** `Query.ticket.id`, `CreateTicketInput.assigneeId`: what the tables know it by. */
  readonly coordinate: string;
  readonly name: string;
  readonly type: GraphQLInputType;
  /** Name of the type that the root field returns. */
  readonly returns: string;
  readonly path: readonly string[];
}

export function argumentSlots(parent: string, field: GraphQLField<unknown, unknown>): Slot[] {
  return field.args.map(({ name, type }) => ({
    coordinate: `${parent}.${field.name}.${name}`,
    name,
    type,
    returns: getNamedType(field.type).name,
    path: [name],
  }));
}

export function inputSlots(
  type: GraphQLInputType,
  { path, returns }: Pick<Slot, 'path' | 'returns'>,
): Slot[] {
  const named = getNamedType(type);
  if (!isInputObjectType(named)) return [];
  return Object.values(named.getFields()).map(({ name, type: fieldType }) => ({
    coordinate: `${named.name}.${name}`,
    name,
    type: fieldType,
    returns,
    path: [...path, name],
  }));
}

/** @throws naming the place when it is not known what an id points at */
export function kindOf({ coordinate, name, type, returns }: Slot): KindName | undefined {
  const scalar = getNamedType(type).name;
  const known = pointsAt[coordinate] ?? pointsAt[name];
  if (known) return known;
  const looksLikeId = ['ID', 'UUID'].includes(scalar) || /(^id|Ids?|[sS]lug)$/.test(name);
  if (!looksLikeId || noReferences.has(coordinate) || isInputObjectType(getNamedType(type))) return undefined;
  const [, field = ''] = coordinate.split('.');
  const kind = namesItself.has(name)
    ? (endingIn(returns.replace(/Page$/, '')) ?? endingIn(field))
    : endingIn(name.replace(/Ids?$/, ''));
  if (kind) return kind;
  throw new Error(
    `${coordinate}: the matrix does not know what it points at. Add a line to reference-kinds.ts`,
  );
}

/** Arguments that take the id of what the field itself answers with. */
const namesItself: ReadonlySet<string> = new Set(['id', 'startingAfter', 'endingBefore']);

/** `deletePipeline` and `sourceConnection` say it themselves. */
function endingIn(name: string): KindName | undefined {
  const names = Object.keys(kinds) as KindName[];
  return names.find((kind) => name.toLowerCase().endsWith(kind.toLowerCase()));
}

/** The kind of thing that a field answers with, by itself or in a page. */
export function kindShown(field: GraphQLField<unknown, unknown>): KindName | undefined {
  return endingIn(getNamedType(field.type).name.replace(/Page$/, ''));
}

/** Every place below the slots where an id stands. */
export function referencesIn(
  slots: readonly Slot[],
  inRequired = true,
  above: readonly string[] = [],
): Reference[] {
  return slots.flatMap((slot) => {
    const required = inRequired && isNonNullType(slot.type);
    const kind = kindOf(slot);
    if (kind) return [{ path: slot.path, kind, required }];
    const named = getNamedType(slot.type).name;
    return above.includes(named)
      ? []
      : referencesIn(inputSlots(slot.type, slot), required, [...above, named]);
  });
}

/** Values for the slots that need one or are chosen; the rest stays absent. */
export async function fill(
  slots: readonly Slot[],
  actor: Actor,
  chosen: Chosen | undefined,
): Promise<Record<string, unknown>> {
  const entries: [string, unknown][] = [];
  for (const slot of slots) {
    const value = await slotValue(slot, actor, chosen);
    if (value !== undefined) entries.push([slot.name, value]);
  }
  return Object.fromEntries(entries);
}

async function slotValue(slot: Slot, actor: Actor, chosen: Chosen | undefined): Promise<unknown> {
  const kind = kindOf(slot);
  const wrap = (value: unknown) => (isListType(getNullableType(slot.type)) ? [value] : value);
  if (kind) {
    if (chosen?.path.join() === slot.path.join()) return wrap(chosen.id);
    if (!isNonNullType(slot.type)) return undefined;
    return wrap(await (values[slot.coordinate]?.(actor) ?? make(kind, actor)));
  }
  const fixed = values[slot.coordinate];
  if (fixed) return fixed(actor);
  const leadsToChosen = chosen?.path.slice(0, slot.path.length).join() === slot.path.join();
  if (!isNonNullType(slot.type) && !leadsToChosen) return undefined;
  const named = getNamedType(slot.type);
  if (isInputObjectType(named)) return wrap(await fill(inputSlots(named, slot), actor, chosen));
  return wrap(isEnumType(named) ? named.getValues()[0]?.name : sample(slot, named.name, actor));
}

function sample({ coordinate }: Slot, scalar: string, { house }: Actor): unknown {
  const samples: Record<string, unknown> = {
    String: `${house.marker} ${crypto.randomUUID()}`,
    Int: 1,
    SafeInt: 1,
    Float: 1,
    Boolean: true,
    DateTime: new Date().toISOString(),
    JSONObject: {},
    EmailAddress: `${crypto.randomUUID()}@example.test`,
  };
  if (scalar in samples) return samples[scalar];
  throw new Error(`${coordinate}: the matrix makes no ${scalar}. Add a line to values in reference-kinds.ts`);
}
