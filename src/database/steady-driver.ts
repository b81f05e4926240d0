import { type Configuration, PostgreSqlConnection, PostgreSqlDriver } from '@mikro-orm/postgresql';
import { isDatabaseAway } from './connection-error.js';
import { oneMessage } from './one-message.js';

type Dialect = ReturnType<PostgreSqlConnection['createKyselyDialect']>;
type ConnectionDriver = ReturnType<Dialect['createDriver']>;

/**
 * Kysely gives a connection back to the pool only after `begin`, `commit` and `rollback` that succeeded
 * (https://github.com/kysely-org/kysely/issues/1990). A restart of PostgreSQL under open transactions would take one
 * place of the pool for each of them, for good: after a few nothing is left, and closing the pool never ends.
 */
export class SteadyDriver extends PostgreSqlDriver {
  constructor(config: Configuration) {
    super(config);
    Object.defineProperty(this, 'connection', { value: new SteadyConnection(config) });
  }
}

type Transactional = PostgreSqlConnection['transactional'];

class SteadyConnection extends PostgreSqlConnection {
  /**
   * MikroORM opens a transaction around each single statement of an EntityManager with a session context: four round
   * trips where one does. What `em.transactional` and a flush open names a broadcaster and stays a transaction.
   */
  override async transactional<T>(
    work: Parameters<typeof PostgreSqlConnection.prototype.transactional<T>>[0],
    options: Parameters<Transactional>[1] = {},
  ): Promise<T> {
    const { sessionContext, eventBroadcaster, ctx } = options;
    if (sessionContext?.variables === undefined || eventBroadcaster !== undefined || ctx !== undefined)
      return super.transactional(work, options);
    const pool = await this.getNativeClient();
    return work(oneMessage(pool, sessionContext.variables) as never);
  }

  override createKyselyDialect(
    overrides: Parameters<PostgreSqlConnection['createKyselyDialect']>[0],
  ): Dialect {
    const dialect = super.createKyselyDialect(overrides);
    const createDriver = dialect.createDriver.bind(dialect);
    return Object.assign(dialect, { createDriver: () => withoutLeaks(createDriver()) });
  }
}

function withoutLeaks(driver: ConnectionDriver): ConnectionDriver {
  const begin = driver.beginTransaction.bind(driver);
  const rollback = driver.rollbackTransaction.bind(driver);
  return Object.assign(driver, {
    async beginTransaction(...[connection, settings]: Parameters<ConnectionDriver['beginTransaction']>) {
      try {
        await begin(connection, settings);
      } catch (error) {
        await driver.releaseConnection(connection);
        throw error;
      }
    },
    /** The server has rolled back what a lost connection left open; a failed commit is followed by a rollback, too. */
    async rollbackTransaction(connection: Parameters<ConnectionDriver['rollbackTransaction']>[0]) {
      try {
        await rollback(connection);
      } catch (error) {
        if (!isDatabaseAway(error)) throw error;
      }
    },
  });
}
