import { expect, it } from '@jest/globals';
import { nativePool, openConnections } from '../../src/database/native-pool.js';
import { createOrm } from '../../src/database/orm.js';
import { createTestDatabase } from '../support/database.js';

it('are open before anybody asks, and the pool may not close them', async () => {
  const database = await createTestDatabase();
  const orm = await createOrm({ databaseUrl: database.url, poolSize: 5, readyConnections: 3 });
  try {
    await openConnections(orm, 3);
    const pool = await nativePool(orm);
    expect([pool.totalCount, pool.idleCount, pool.options.min]).toEqual([3, 3, 3]);
  } finally {
    await orm.close(true);
    await database.close();
  }
});
