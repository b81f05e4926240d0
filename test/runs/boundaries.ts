import { Client } from 'pg';

/** Holds statements up in the middle, each at a place with a name, so that a worker can be killed exactly there. */
export interface Boundaries {
  /** The places at which statements are held up now. */
  reached(): Promise<string[]>;
  /** The statement at the place is rolled back, as if it had never come. */
  rollBack(place: string): Promise<void>;
  /** What is held up at the place goes on, now and from now on. */
  open(place: string): Promise<void>;
  close(): Promise<void>;
}

/** Key of the place's lock; everything else about the first key of two is PostgreSQL's. */
const SPACE = 77;

/** For a trigger of the database that `url` leads to: waits at the place while it is closed. */
const WAIT_AT = `
CREATE FUNCTION public.wait_at(place text) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_lock_shared(${SPACE}, hashtext(place));
  SELECT pg_advisory_unlock_shared(${SPACE}, hashtext(place))
$$`;

/** Locks are a database's own, so the triggers have to be in the database that is given. All places begin closed. */
export async function holdUpAt(
  url: string,
  places: readonly string[],
  triggers: string,
): Promise<Boundaries> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(WAIT_AT);
  for (const place of places) await client.query('SELECT pg_advisory_lock($1, hashtext($2))', [SPACE, place]);
  await client.query(triggers);
  const waiting = async (): Promise<{ place: string; pid: number }[]> => {
    const { rows } = await client.query(
      `SELECT place, pid FROM pg_locks JOIN unnest($1::text[]) AS place ON hashtext(place) = objid::bigint::bit(32)::int
       WHERE locktype = 'advisory' AND classid = ${SPACE} AND NOT granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [places],
    );
    return rows;
  };
  return {
    reached: async () => [...new Set((await waiting()).map(({ place }) => place))],
    async rollBack(place) {
      const pids = (await waiting()).filter((row) => row.place === place).map(({ pid }) => pid);
      await client.query('SELECT pg_terminate_backend(pid, 5000) FROM unnest($1::int[]) AS pid', [pids]);
    },
    async open(place) {
      await client.query('SELECT pg_advisory_unlock($1, hashtext($2))', [SPACE, place]);
    },
    close: () => client.end(),
  };
}
