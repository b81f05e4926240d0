import { Pool, type PoolConfig } from 'pg';

/** pg's pool as the peers use it. A connection that is lost without a listener would end the bench; its query rejects anyway. */
export function openPool(config: PoolConfig): Pool {
  const pool = new Pool(config);
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
