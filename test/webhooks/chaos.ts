import 'reflect-metadata';
import { type ChildProcess, fork } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { isDatabaseAway } from '../../src/database/connection-error.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/database/embedded-postgres.js';
import { migrate } from '../../src/database/migrate.js';
import { createOrm } from '../../src/database/orm.js';
import { newId } from '../../src/entities/ids.js';
import { Webhook } from '../../src/entities/webhooks/webhook.js';
import { newEvent } from '../../src/events/catalogue.js';
import { transactional } from '../../src/events/transaction.js';
import { createWakeChannel } from '../../src/events/wake-channel.js';
import { createSecretBox } from '../../src/secret-box.js';
import { createCertificateAuthority } from './certificate-authority.js';
import { type Receiver, startReceiver } from './receiver.js';

export interface ChaosPlan {
  /** delivery-process.ts, bundled. */
  workerFile: string;
  events: number;
  receivers: number;
  workers: number;
  /** Workers killed, at random moments of the first nine tenths. */
  kills: number;
  leaseSeconds: number;
  /** After which everything should long have arrived. */
  patienceMs: number;
}

export interface ChaosOutcome {
  kills: number;
  restarts: number;
  expected: number;
  arrived: number;
  /** Events that did not arrive, over all receivers. */
  missing: number;
  /** POSTs beyond the first of an event at a receiver. */
  duplicates: number;
  badSignatures: number;
  seconds: number;
}

const ORGANIZATION = 'org_chaos';
const BATCH = 20;
const log = pino({ level: 'silent' });
const settings = { fsync: 'off', max_connections: '100' };

/** Workers are killed at random while events are written, and PostgreSQL is restarted once in the middle. */
export async function runChaos(plan: ChaosPlan): Promise<ChaosOutcome> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'opsgraph-chaos-'));
  const server = await startEmbeddedPostgres({ dataDir: path.join(directory, 'data'), settings });
  const closers: (() => unknown)[] = [
    () => rm(directory, { recursive: true, force: true }),
    () => server.close(),
  ];
  try {
    return await chaosOn(server, directory, plan, (close) => void closers.push(close));
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function chaosOn(
  server: EmbeddedPostgres,
  directory: string,
  plan: ChaosPlan,
  onClose: (close: () => unknown) => void,
): Promise<ChaosOutcome> {
  const orm = await createOrm({ databaseUrl: server.url, poolSize: 4 });
  onClose(() => orm.close(true));
  await migrate(orm);
  const wake = createWakeChannel({ databaseUrl: server.url, log });
  onClose(() => wake.close());
  await wake.connected();

  const ca = await createCertificateAuthority();
  const pair = await ca.issue({ dns: ['localhost'] });
  const caFile = path.join(directory, 'ca.pem');
  await writeFile(caFile, ca.cert);
  const secretKey = randomBytes(32).toString('hex');
  const secrets = createSecretBox({ secretKey, dataDir: directory });
  const em = orm.em.fork();
  const subscribers = await Promise.all(
    Array.from({ length: plan.receivers }, async () => {
      const receiver = await startReceiver(pair);
      onClose(receiver.close);
      const secret = `whsec_${randomBytes(32).toString('base64')}`;
      em.create(Webhook, {
        id: newId('whk'),
        organizationId: ORGANIZATION,
        url: `${receiver.url}/events`,
        events: ['*'],
        sealedSecret: secrets.seal(secret),
        createdBy: 'usr_chaos',
        createdAt: new Date(),
        updatedAt: new Date(),
      });
      return { receiver, secret };
    }),
  );
  await em.flush();

  const hosts = subscribers.map(({ receiver }) => receiver.host).join(',');
  const workers = new Workers(plan.workerFile, [
    server.url,
    caFile,
    hosts,
    secretKey,
    String(plan.leaseSeconds),
  ]);
  onClose(() => workers.end());
  await Promise.all(Array.from({ length: plan.workers }, () => workers.start()));

  const begun = performance.now();
  const written = new Set<string>();
  const writing = writeEvents(orm, wake, plan.events, written);
  const arrived = () => subscribers.reduce((sum, { receiver }) => sum + idsAt(receiver).size, 0);
  const expected = plan.events * plan.receivers;
  const posts = () => subscribers.reduce((sum, { receiver }) => sum + receiver.arrivals.length, 0);
  const deaths = Array.from({ length: plan.kills }, () => 0.02 + Math.random() * 0.88).sort((a, b) => a - b);
  let restarts = 0;
  while (posts() < expected || arrived() < expected) {
    if (performance.now() - begun > plan.patienceMs) break;
    const share = posts() / expected;
    if (share > (deaths[0] ?? Number.POSITIVE_INFINITY)) {
      deaths.shift();
      workers.replaceOne();
    }
    if (restarts === 0 && share > 0.4) {
      restarts += 1;
      process.kill(server.pid, 'SIGINT');
    }
    await pause(5);
  }
  await writing;
  // Whatever would come twice: leases of the dead have run out by then.
  await pause(plan.leaseSeconds * 1000 + 1_000);
  const seconds = (performance.now() - begun) / 1000;
  const counts = subscribers.map(({ receiver }) => {
    const ids = idsAt(receiver);
    return {
      missing: [...written].filter((id) => !ids.has(id)).length,
      duplicates: receiver.arrivals.length - ids.size,
    };
  });
  return {
    kills: workers.kills,
    restarts,
    expected,
    arrived: arrived(),
    missing: counts.reduce((sum, { missing }) => sum + missing, 0),
    duplicates: counts.reduce((sum, { duplicates }) => sum + duplicates, 0),
    badSignatures: subscribers.reduce((sum, { receiver, secret }) => sum + forged(receiver, secret), 0),
    seconds,
  };
}

/** In transactions of twenty; one that an outage ends is written again, for nobody was told that it stands. */
async function writeEvents(
  orm: Awaited<ReturnType<typeof createOrm>>,
  wake: ReturnType<typeof createWakeChannel>,
  count: number,
  written: Set<string>,
): Promise<void> {
  while (written.size < count) {
    const ids = Array.from({ length: Math.min(BATCH, count - written.size) }, () => newId('tkt'));
    const services = { now: () => new Date(), wake };
    try {
      await transactional({ em: orm.em.fork(), log, services }, async (unit) => {
        for (const id of ids)
          unit.record(
            newEvent('ticket.created', ORGANIZATION, {
              id,
              title: 'Chaos',
              status: 'new',
              priority: 'low',
              type: 'task',
            }),
          );
      });
      for (const id of ids) written.add(id);
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      await pause(100);
    }
  }
}

/** The tickets that a receiver was told of. */
function idsAt({ arrivals }: Receiver): Set<string> {
  const ids = new Set<string>();
  for (const arrival of arrivals) ids.add(ticketOf(arrival));
  return ids;
}

const tickets = new WeakMap<object, string>();
function ticketOf(arrival: Receiver['arrivals'][number]): string {
  const known = tickets.get(arrival);
  if (known !== undefined) return known;
  const id: string = JSON.parse(arrival.body.toString()).payload.id;
  tickets.set(arrival, id);
  return id;
}

function forged({ arrivals }: Receiver, secret: string): number {
  const standard = new StandardWebhook(secret);
  let count = 0;
  for (const { body, headers } of arrivals) {
    const own = createHmac('sha256', secret).update(body).digest('hex');
    try {
      standard.verify(body, headers as Record<string, string>);
      if (headers['x-itsm-signature'] !== own) count += 1;
    } catch {
      count += 1;
    }
  }
  return count;
}

class Workers {
  readonly #file: string;
  readonly #arguments: string[];
  readonly #running: ChildProcess[] = [];
  kills = 0;

  constructor(file: string, args: string[]) {
    this.#file = file;
    this.#arguments = args;
  }

  async start(): Promise<void> {
    const child = fork(this.#file, this.#arguments, {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#running.push(child);
    await Promise.race([once(child, 'message'), once(child, 'exit')]);
  }

  /** SIGKILL in the middle of whatever it does; another one begins at once. */
  replaceOne(): void {
    const [victim] = this.#running.splice(Math.floor(Math.random() * this.#running.length), 1);
    victim?.kill('SIGKILL');
    this.kills += 1;
    void this.start();
  }

  async end(): Promise<void> {
    await Promise.all(
      this.#running.splice(0).map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      }),
    );
  }
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
