import { Writable } from 'node:stream';
import { pino } from 'pino';
import { parseConfig } from '../../src/config.js';
import { asSystem, createContext, type RequestContext, type Services } from '../../src/context.js';
import { createOrm } from '../../src/database/orm.js';
import { createItsmTokens } from '../../src/domain/identity/index.js';
import { REQUEST_ROLE, SYSTEM_ROLE } from '../../src/entities/row-security.js';
import { createWakeChannel } from '../../src/events/wake-channel.js';
import { createSecretBox } from '../../src/secret-box.js';

/** The same for every node of a test installation. */
const SECRET_KEY = '5c'.repeat(32);

export interface TestNode {
  services: Services;
  /** What this node's clock says; moved by tests that can't wait 15 minutes. */
  clock: { offsetMs: number };
  /** Everything it logged, at every level. */
  logged(): string;
  /** As public operations are given it. */
  anonymous(): RequestContext;
  close(): Promise<void>;
}

/** The identity part of one server process: its own connections, caches and clock over a shared database. */
export async function startNode(databaseUrl: string, environment: NodeJS.ProcessEnv = {}): Promise<TestNode> {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const log = pino({ level: 'trace' }, sink);
  const config = parseConfig(
    { OPSGRAPH_SECRET_KEY: SECRET_KEY, DATABASE_URL: databaseUrl, ...environment },
    '/nowhere',
  );
  const clock = { offsetMs: 0 };
  const orm = await createOrm({ databaseUrl, poolSize: 8, log, role: SYSTEM_ROLE });
  const tenantOrm = await createOrm({ databaseUrl, poolSize: 8, log, role: REQUEST_ROLE });
  const wake = createWakeChannel({ databaseUrl, log });
  const needed = {
    config,
    log,
    orm,
    tenantOrm,
    wake,
    secrets: createSecretBox(config),
    now: () => new Date(Date.now() + clock.offsetMs),
  };
  const itsmTokens = createItsmTokens(needed);
  // Identity asks for nothing else of the process: a test that reaches for more fails with a TypeError.
  const services = { ...needed, itsmTokens } as unknown as Services;
  return {
    services,
    clock,
    logged: () => lines.join(''),
    anonymous: () => asSystem(createContext(services, 'req_test', {})),
    async close() {
      await itsmTokens.close();
      await wake.close();
      await tenantOrm.close(true);
      await orm.close(true);
    },
  };
}
