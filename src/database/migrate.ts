import { MikroORM } from '@mikro-orm/postgresql';
import { ormConfiguration } from './orm.js';
import { ensureRoles, grantTables, letSearchUseItsIndex } from './roles.js';

/** Any number, as long as every node takes the same one: 'opsgraph' in ASCII does not fit, its first four letters do. */
const MIGRATION_LOCK = 0x6f707367;

/**
 * Brings the database to the newest migration, one node at a time; whoever comes second finds nothing left to do.
 * All of it is one transaction: it is applied completely or not at all. The roles that serve are made before, since
 * policies name them, and granted their tables after.
 *
 * @throws when a migration fails, or is still pending afterwards
 */
export async function migrate(orm: MikroORM): Promise<void> {
  const databaseUrl = orm.config.get('clientUrl');
  if (databaseUrl === undefined) throw new TypeError('migrate() needs an ORM made by createOrm()');
  // An index over a large table takes longer than a request may.
  const patient = await MikroORM.init(ormConfiguration({ databaseUrl, poolSize: 2, statementTimeoutMs: 0 }));
  try {
    await ensureRoles(patient.em.fork());
    await patient.em.fork().transactional(async (em) => {
      // MikroORM takes no lock of its own: two simultaneous up() collide while creating its table.
      await em.execute('select pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
      await patient.migrator.up({ transaction: em.getTransactionContext() });
      await grantTables(em);
      await letSearchUseItsIndex(em);
    });
    const pending = await patient.migrator.getPending();
    if (pending.length > 0)
      throw new Error(`Migrations still pending: ${pending.map(({ name }) => name).join(', ')}`);
  } finally {
    await patient.close(true);
  }
}
