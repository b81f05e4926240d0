export interface TaskOrder {
  /** The ids that can be ordered, each after everything it waits for; otherwise in the order given. */
  order: readonly string[];
  /** 0 for an id that waits for nothing, else one more than the highest it waits for. */
  level: ReadonlyMap<string, number>;
  /** For each knot of ids that wait for one another, one cycle: each id waits for the next, the last for the first. */
  cycles: readonly (readonly string[])[];
}

/** Orders ids by what they wait for (`waitsFor` names only known ids). Linear in ids and edges. */
export function orderTasks(
  ids: readonly string[],
  waitsFor: ReadonlyMap<string, readonly string[]>,
): TaskOrder {
  const waiters = new Map<string, string[]>(ids.map((id) => [id, []]));
  const open = new Map<string, number>();
  for (const id of ids) {
    const needs = new Set(waitsFor.get(id));
    open.set(id, needs.size);
    for (const need of needs) waiters.get(need)?.push(id);
  }
  const level = new Map<string, number>();
  let current = ids.filter((id) => open.get(id) === 0);
  for (let depth = 0; current.length > 0; depth += 1) {
    const next: string[] = [];
    for (const id of current) {
      level.set(id, depth);
      for (const waiter of waiters.get(id) ?? []) {
        const left = (open.get(waiter) ?? 0) - 1;
        open.set(waiter, left);
        if (left === 0) next.push(waiter);
      }
    }
    current = next;
  }
  const position = new Map(ids.map((id, index) => [id, index]));
  const order = ids
    .filter((id) => level.has(id))
    .sort((a, b) => rank(level, position, a) - rank(level, position, b));
  return {
    order,
    level,
    cycles: findCycles(
      ids.filter((id) => !level.has(id)),
      waitsFor,
      level,
    ),
  };
}

function rank(level: ReadonlyMap<string, number>, position: ReadonlyMap<string, number>, id: string): number {
  return (level.get(id) ?? 0) * position.size + (position.get(id) ?? 0);
}

/** Every id left over waits for another one left over, so following them must come round. */
function findCycles(
  left: readonly string[],
  waitsFor: ReadonlyMap<string, readonly string[]>,
  ordered: ReadonlyMap<string, number>,
): string[][] {
  const cycles: string[][] = [];
  const seen = new Set<string>();
  for (const start of left) {
    const path: string[] = [];
    const placeOnPath = new Map<string, number>();
    let id: string | undefined = start;
    while (id !== undefined && !seen.has(id)) {
      seen.add(id);
      placeOnPath.set(id, path.length);
      path.push(id);
      id = waitsFor.get(id)?.find((need) => !ordered.has(need));
    }
    const begin = id === undefined ? undefined : placeOnPath.get(id);
    if (begin !== undefined) cycles.push(path.slice(begin));
  }
  return cycles;
}
