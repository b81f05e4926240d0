import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import autocannon from 'autocannon';
import { pino } from 'pino';
import { startApp } from '../../src/app.js';
import { parseConfig } from '../../src/config.js';
import { startEmbeddedPostgres } from '../../src/database/embedded-postgres.js';
import { DEMO_PASSWORD } from '../../src/domain/identity/index.js';
import { createLogger } from '../../src/logger.js';

const CONNECTIONS = 16;
const QUERY = JSON.stringify({ query: '{ jsonWebKeySet { keys { kid } } }' });

/**
 * The same public question to the whole server by nobody and by somebody, in turns, counted per second of the server's
 * thread: what finding out who asks adds to a request.
 */
export async function compareServed({
  rounds,
  seconds,
}: {
  rounds: number;
  seconds: number;
}): Promise<string> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'opsgraph-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir });
  const config = parseConfig(
    { PORT: '0', DATABASE_URL: postgres.url, DATA_DIR: dataDir, SEED: 'demo', RATE_LIMIT_DISABLED: 'true' },
    dataDir,
  );
  const log = createLogger(config, pino.destination({ dest: '/dev/null', sync: false }));
  const app = await startApp({ config, log });
  try {
    const bearer = { authorization: `Bearer ${await accessToken(app.url)}` };
    const costs = { anonymous: [] as number[], verified: [] as number[] };
    await microsecondsEach(app.url, {}, seconds);
    for (let round = 0; round < rounds; round += 1) {
      costs.anonymous.push(await microsecondsEach(app.url, {}, seconds));
      costs.verified.push(await microsecondsEach(app.url, bearer, seconds));
    }
    const [verified, anonymous] = [median(costs.verified), median(costs.anonymous)];
    return `verified request / anonymous request, whole server: ${verified.toFixed(0)} µs against ${anonymous.toFixed(0)} µs, ${(verified / anonymous).toFixed(2)} of its cost`;
  } finally {
    await app.shutdown.drain('bench over');
    await postgres.close();
    await rm(dataDir, { recursive: true });
  }
}

async function accessToken(url: string): Promise<string> {
  const answer = await fetch(`${url}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'agent@acme.test', password: DEMO_PASSWORD }),
  });
  const body = (await answer.json()) as { accessToken: string };
  return body.accessToken;
}

async function microsecondsEach(
  url: string,
  credential: Record<string, string>,
  seconds: number,
): Promise<number> {
  const headers = { 'content-type': 'application/json', ...credential };
  const before = process.threadCpuUsage();
  const { requests, non2xx, errors } = await autocannon({
    url: `${url}/graphql`,
    method: 'POST',
    headers,
    body: QUERY,
    duration: seconds,
    connections: CONNECTIONS,
    workers: 1,
  });
  const { user, system } = process.threadCpuUsage(before);
  if (non2xx > 0 || errors > 0) throw new Error('The server failed under load');
  return (user + system) / requests.total;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
