import type { Item } from './read-items.js';

/** A target whose place another one, written after it in the text, writes as well. */
export interface SharedTarget {
  first: Item;
  second: Item;
}

/** Targets that overwrite one and the same file: whichever is last wins, and both would be called a success. */
export function sharedFiles(items: readonly Item[]): SharedTarget[] {
  return pairs(
    items.filter(({ kind, value: { type, mode = 'OVERWRITE', path } }) => {
      return kind === 'target' && type === 'file' && mode === 'OVERWRITE' && typeof path === 'string';
    }),
    ({ value: { connection, path } }) => JSON.stringify([connection, path]),
  );
}

/** Targets of which one takes away what the other has written to the same table, unless it is sure to come first. */
export function sharedTables(items: readonly Item[]): SharedTarget[] {
  return pairs(
    items.filter(({ kind, value }) => kind === 'target' && typeof value['table'] === 'string'),
    ({ value: { type, connection, table } }) => JSON.stringify([type, connection, table]),
  ).filter(({ first, second }) => takesAway(first, second) || takesAway(second, first));
}

/** Whether it is a target that leaves nothing at its place but what it read. */
export function replaces({ kind, value: { mode, deleteWhen } }: Item): boolean {
  return kind === 'target' && (mode === 'OVERWRITE' || (mode === 'MERGE' && deleteWhen === undefined));
}

function takesAway(target: Item, other: Item): boolean {
  const comesFirst = !replaces(other) && other.dependsOn.some(({ id }) => id === target.id);
  return replaces(target) && !comesFirst;
}

/** Each with the first of its place. */
function pairs(targets: readonly Item[], placeOf: (target: Item) => string): SharedTarget[] {
  const firsts = new Map<string, Item>();
  return targets.flatMap((second) => {
    const place = placeOf(second);
    const first = firsts.get(place);
    if (!first) firsts.set(place, second);
    return first ? [{ first, second }] : [];
  });
}
