interface Turnstile {
  inside: number;
  waiting: (() => void)[];
}

/** By what the process shares, such as its ORM: two nodes in one process are still two nodes. */
const turnstiles = new WeakMap<object, Map<string, Turnstile>>();

/** Runs at most `limit` pieces of work with the same key at a time, first come first served. */
export async function inTurn<T>(
  owner: object,
  key: string,
  limit: number,
  work: () => Promise<T>,
): Promise<T> {
  const mine = turnstiles.get(owner) ?? new Map<string, Turnstile>();
  turnstiles.set(owner, mine);
  const turnstile = mine.get(key) ?? { inside: 0, waiting: [] };
  mine.set(key, turnstile);
  if (turnstile.inside < limit) turnstile.inside += 1;
  else await new Promise<void>((resolve) => turnstile.waiting.push(resolve));
  try {
    return await work();
  } finally {
    // A place is handed on, so that nobody who comes now takes it from who waits.
    const next = turnstile.waiting.shift();
    if (next) next();
    else {
      turnstile.inside -= 1;
      if (turnstile.inside === 0) mine.delete(key);
    }
  }
}
