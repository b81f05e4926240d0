import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { discoverMysql } from '../../../src/integrations/connections/mysql-system.js';
import { discoverPostgres } from '../../../src/integrations/connections/postgres-system.js';
import { type SilentServer, startSilentServer } from '../../support/silent-server.js';

let silent: SilentServer;

beforeEach(async () => {
  silent = await startSilentServer();
});
afterEach(async () => {
  mock.timers.reset();
  await silent.close();
});

const DISCOVERIES = {
  postgres: (signal: AbortSignal) => discoverPostgres({ type: 'postgres', ...account() }, signal),
  mysql: (signal: AbortSignal) => discoverMysql({ type: 'mysql', ...account() }, signal),
};
const account = () => ({ host: silent.host, port: silent.port, database: 'none', user: 'u' });

it.each(['postgres', 'mysql'] as const)(
  'a %s that says nothing is waited for until the signal comes',
  async (type) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const end = new AbortController();
    let isOver = false;
    const visit = silent.visited();
    const discovery = DISCOVERIES[type](end.signal).finally(() => {
      isOver = true;
    });
    const failed = expect(discovery).rejects.toThrow();
    await visit;
    mock.timers.tick(600_000);
    await setImmediate();
    expect(isOver).toBe(false);
    end.abort();
    await failed;
  },
);
