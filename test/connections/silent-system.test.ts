import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { caller } from '../support/rest.js';
import { type SilentServer, startSilentServer } from '../support/silent-server.js';

let app: TestApp;
let silent: SilentServer;

beforeAll(async () => {
  silent = await startSilentServer();
  app = await startTestApp();
});
afterAll(async () => {
  await app?.close();
  await silent.close();
});

afterEach(() => {
  jest.restoreAllMocks();
});

it.each(['postgres', 'mysql'])('the schema of a silent %s is 504 when its 20 s are over', async (type) => {
  const engineer = caller(app.url, await app.platform('demo-engineer'));
  const config = { host: silent.host, port: silent.port, database: 'none' };
  const credentials = { username: 'u', password: 'p' };
  const made = await engineer('POST', '/api/v1/connections', { name: type, type, config, credentials });
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms === 20_000 ? 200 : ms));
  const answer = await engineer('GET', `/api/v1/connections/${made.body.id}/schema`);
  expect(answer).toMatchObject({
    status: 504,
    body: {
      error: 'GATEWAY_TIMEOUT',
      message: 'The system cannot be read: There was no answer in time.',
    },
  });
});
