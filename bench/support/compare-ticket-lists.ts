import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import autocannon from 'autocannon';
import { pino } from 'pino';
import { parseConfig } from '../../src/config.js';
import { startEmbeddedPostgres } from '../../src/database/embedded-postgres.js';
import { migrate } from '../../src/database/migrate.js';
import { createOrm } from '../../src/database/orm.js';
import { DEMO_PASSWORD, seedDemo } from '../../src/domain/identity/index.js';
import { newId } from '../../src/entities/ids.js';
import { createSecretBox } from '../../src/secret-box.js';
import { seedTickets } from './seed-tickets.js';

/** Modules of the two servers, each run in a process of its own. */
export interface ServerFiles {
  app: URL;
  bare: URL;
}

interface Effort {
  rounds: number;
  seconds: number;
}

const CONNECTIONS = 16;
const TENANTS = 10;
const TICKETS_EACH = 10_000;

/** Requests that all answer the newest 25 tickets of one tenant. */
interface Peer {
  name: string;
  request: autocannon.Options;
}

const QUERY = `{ tickets(limit: 25) {
  data {
    id number title description status holdReason priority impact urgency type category subcategory tags customFields
    requesterId assigneeId teamId source resolution externalRefs createdAt updatedAt resolvedAt closedAt version
  }
  meta { pagination { page limit total totalPages hasMore } }
} }`;

/** One line per comparison, and how busy the database made both. */
export async function compareTicketLists(files: ServerFiles, effort: Effort): Promise<string[]> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'opsgraph-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir, log: pino({ level: 'silent' }) });
  const children: ChildProcess[] = [];
  const start = async (file: URL, args: string[], env: NodeJS.ProcessEnv): Promise<string> => {
    const child = fork(file, args, { cwd: dataDir, env: { ...process.env, ...env } });
    children.push(child);
    return addressOf(child);
  };
  try {
    const organizationId = await fill(postgres.url, dataDir);
    const app = await start(files.app, [], {
      DATABASE_URL: postgres.url,
      DATA_DIR: dataDir,
      PORT: '0',
      SEED: 'none',
      NODE_ENV: 'production',
      RATE_LIMIT_DISABLED: 'true',
      DATABASE_POOL_SIZE: `${CONNECTIONS}`,
    });
    const bare = await start(files.bare, [postgres.url, organizationId, `${CONNECTIONS}`], {
      NODE_ENV: 'production',
    });
    return await measure(await peersOf(app, bare), effort);
  } finally {
    await Promise.all(children.map(stop));
    await postgres.close();
    await rm(dataDir, { recursive: true });
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('message', (url) => resolve(String(url)));
    child.once('exit', (code) => reject(new Error(`A server ended with exit code ${code} before it was up`)));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

/** @returns the tenant whose tickets are listed */
async function fill(databaseUrl: string, dataDir: string): Promise<string> {
  const orm = await createOrm({ databaseUrl, poolSize: 4 });
  try {
    await migrate(orm);
    const secrets = createSecretBox(parseConfig({ DATA_DIR: dataDir }, dataDir));
    const { acme } = await seedDemo({ orm, secrets, now: () => new Date() });
    for (let tenant = 0; tenant < TENANTS; tenant += 1) {
      await seedTickets({
        databaseUrl,
        organizationId: tenant === 0 ? acme.organizationId : newId('org'),
        userIds: Object.values(acme.userIds),
        teamIds: [acme.teamId],
        count: TICKETS_EACH,
        until: new Date(),
      });
    }
    await orm.em.fork().execute('vacuum analyze');
    return acme.organizationId;
  } finally {
    await orm.close(true);
  }
}

async function peersOf(app: string, bare: string): Promise<Peer[]> {
  const login = await fetch(`${app}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'manager@acme.test', password: DEMO_PASSWORD }),
  });
  const { accessToken } = (await login.json()) as { accessToken: string };
  const headers = { authorization: `Bearer ${accessToken}` };
  const peers: Peer[] = [
    { name: 'bare Express + pg', request: { url: `${bare}/v1/tickets?limit=25`, headers } },
    { name: 'REST', request: { url: `${app}/v1/tickets?limit=25`, headers } },
    {
      name: 'GraphQL',
      request: {
        url: `${app}/graphql`,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ query: QUERY }),
      },
    },
  ];
  await requireSameAnswer(peers);
  return peers;
}

async function requireSameAnswer([bare, rest, graphql]: Peer[]): Promise<void> {
  const [one, other] = await Promise.all([bare, rest].map(answerOf));
  if (one !== other) throw new Error('REST and the bare server do not answer the same JSON');
  const { data } = JSON.parse((await answerOf(graphql)) ?? '{}');
  const ids = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id).join();
  if (ids(data.tickets) !== ids(JSON.parse(one ?? '{}'))) throw new Error('GraphQL lists other tickets');
}

async function answerOf(peer: Peer | undefined): Promise<string | undefined> {
  if (peer === undefined) return undefined;
  const { url, method, headers, body } = peer.request;
  const init = { method: method ?? 'GET', headers: headers as Record<string, string>, body: body ?? null };
  return (await fetch(url, init as RequestInit)).text();
}

async function measure(peers: Peer[], { rounds, seconds }: Effort): Promise<string[]> {
  const rates = new Map<Peer, number[]>(peers.map((peer) => [peer, []]));
  for (const peer of peers) await load(peer, 1);
  // Peers take turns, so that a noisy moment of the machine does not hit one of them alone.
  for (let round = 0; round < rounds; round += 1)
    for (const peer of peers) rates.get(peer)?.push(await load(peer, seconds));
  const [bare, ...ours] = peers.map((peer) => ({ name: peer.name, rate: median(rates.get(peer) ?? []) }));
  return ours.map(({ name, rate }) => {
    const ratio = (rate / (bare?.rate ?? Number.NaN)).toFixed(2);
    return `list of 25 of ${TENANTS * TICKETS_EACH} tickets, ${name} / ${bare?.name}: ${ratio} (${rate} and ${bare?.rate} requests/s)`;
  });
}

async function load({ name, request }: Peer, duration: number): Promise<number> {
  const { requests, non2xx, errors } = await autocannon({ ...request, duration, connections: CONNECTIONS });
  if (non2xx > 0 || errors > 0) throw new Error(`${name}: ${non2xx} bad answers and ${errors} errors`);
  return Math.round(requests.average);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
