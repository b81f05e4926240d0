import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { verify as argon2Verify } from '@node-rs/argon2';
import autocannon from 'autocannon';
import { generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { pino } from 'pino';
import { callerOf } from '../../src/app/request-caller.js';
import { parseConfig } from '../../src/config.js';
import {
  asSystem,
  createContext,
  type PlatformTokens,
  type RequestContext,
  type Services,
} from '../../src/context.js';
import { startEmbeddedPostgres } from '../../src/database/embedded-postgres.js';
import { migrate } from '../../src/database/migrate.js';
import { createOrm } from '../../src/database/orm.js';
import {
  type Credentials,
  createApiKey,
  createAuthenticator,
  createItsmTokens,
  DEMO_PASSWORD,
  type LoggedIn,
  login,
  refresh,
  seedDemo,
} from '../../src/domain/identity/index.js';
import { hashPassword } from '../../src/domain/identity/password.js';
import { REQUEST_ROLE, SYSTEM_ROLE } from '../../src/entities/row-security.js';
import { createWakeChannel } from '../../src/events/wake-channel.js';
import { recordOf } from '../../src/gateway/request-record.js';
import { createSecretBox } from '../../src/secret-box.js';

const CONCURRENT = 16;

interface Effort {
  rounds: number;
  seconds: number;
}

/** One line per comparison: what was done per second, by us and by the bare peer, and the ratio. */
export async function compareIdentity(effort: Effort): Promise<string[]> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'opsgraph-bench-'));
  const log = pino({ level: 'silent' });
  const postgres = await startEmbeddedPostgres({ dataDir, log });
  const orm = await createOrm({ databaseUrl: postgres.url, poolSize: CONCURRENT, log, role: SYSTEM_ROLE });
  const tenantOrm = await createOrm({
    databaseUrl: postgres.url,
    poolSize: CONCURRENT,
    log,
    role: REQUEST_ROLE,
  });
  await migrate(orm);
  const wake = createWakeChannel({ databaseUrl: postgres.url, log });
  const config = parseConfig({ DATA_DIR: dataDir }, dataDir);
  const base = { config, log, orm, tenantOrm, wake, secrets: createSecretBox(config), now: () => new Date() };
  const itsmTokens = createItsmTokens(base);
  const services = { ...base, itsmTokens } as unknown as Services;
  try {
    const started = performance.now();
    await seedDemo(services);
    const seeded = `demo seed: ${Math.round(performance.now() - started)} ms`;
    return [
      seeded,
      await logins(services, effort),
      await refreshes(services, effort),
      ...(await verifications(services, effort)),
    ];
  } finally {
    await itsmTokens.close();
    await wake.close();
    await tenantOrm.close(true);
    await orm.close(true);
    await postgres.close();
    await rm(dataDir, { recursive: true });
  }
}

function anonymous(services: Services) {
  return asSystem(createContext(services, 'req_bench', {}));
}

function logins(services: Services, effort: Effort): Promise<string> {
  const credentials = { email: 'agent@acme.test', password: DEMO_PASSWORD };
  const hash = hashPassword(DEMO_PASSWORD);
  return compare('login / bare argon2 verify', effort, {
    ours: () => login(anonymous(services), credentials),
    bare: async () => argon2Verify(await hash, DEMO_PASSWORD),
  });
}

async function loggedIn(context: RequestContext, credentials: Credentials): Promise<LoggedIn> {
  const outcome = await login(context, credentials);
  if ('mfaRequired' in outcome) throw new Error('a second factor is due');
  return outcome;
}

/** A refresh cannot do without verifying one signature and making two. */
async function refreshes(services: Services, effort: Effort): Promise<string> {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const token = await services.itsmTokens.issueRefresh('usr_bench', 'ses_bench');
  const sign = () => new SignJWT({ sub: token }).setProtectedHeader({ alg: 'RS256' }).sign(privateKey);
  const signed = await sign();
  const chains: string[] = [];
  for (let index = 0; index < CONCURRENT; index += 1) {
    const { refreshToken } = await loggedIn(anonymous(services), {
      email: 'user@acme.test',
      password: DEMO_PASSWORD,
    });
    chains.push(refreshToken);
  }
  return compare('refresh / bare RS256 verify + 2 signatures', effort, {
    ours: async (lane) => {
      chains[lane] = (await refresh(anonymous(services), chains[lane] ?? '')).refreshToken;
    },
    bare: () => Promise.all([jwtVerify(signed, publicKey), sign(), sign()]),
  });
}

async function verifications(services: Services, effort: Effort): Promise<string[]> {
  const { accessToken } = await loggedIn(anonymous(services), {
    email: 'admin@acme.test',
    password: DEMO_PASSWORD,
  });
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const bare = await new SignJWT({ sub: 'bench' })
    .setProtectedHeader({ alg: 'RS256' })
    .setExpirationTime('15m')
    .sign(privateKey);
  const line = await compare('verified token / bare RS256 verify', effort, {
    ours: () => services.itsmTokens.verify(accessToken),
    bare: () => jwtVerify(bare, publicKey),
  });
  const { key } = await createApiKey(await adminContext(services, accessToken), {
    name: 'bench',
    permissions: ['tickets:read:all'],
  });
  const credentials: Record<string, Record<string, string>> = {
    token: { authorization: `Bearer ${accessToken}` },
    'API key': { 'x-api-key': key },
    cookie: { cookie: `itsm_auth_token=${accessToken}` },
    'token and device': { authorization: `Bearer ${accessToken}`, 'x-device-fingerprint': 'bench' },
  };
  const lines = [line];
  for (const [name, headers] of Object.entries(credentials))
    lines.push(await requests(services, name, headers, effort));
  return lines;
}

async function adminContext(services: Services, accessToken: string): Promise<RequestContext> {
  return createContext(services, 'req_bench', { itsm: await services.itsmTokens.verify(accessToken) });
}

/**
 * The least a request can be, an id and an answer, is the hardest measure: behind a query the difference drowns. Counted per second of the
 * server's thread, the client having its own, so that whatever else the machine does counts for little.
 */
async function requests(
  services: Services,
  name: string,
  headers: Record<string, string>,
  { rounds, seconds }: Effort,
): Promise<string> {
  const platformTokens: PlatformTokens = {
    verify: () => Promise.reject(new Error('No platform token is sent')),
  };
  const authenticator = createAuthenticator({ ...services, platformTokens });
  const body = JSON.stringify({ data: 'x'.repeat(2_000) });
  const anybody = await serve((request, response) => {
    response.setHeader('X-Request-Id', recordOf(request).id);
    response.writeHead(200).end(body);
  });
  const verified = await serve(async (request, response) => {
    response.setHeader('X-Request-Id', recordOf(request).id);
    const { itsm } = await callerOf({ authenticator, publicUrl: undefined }, request, 'itsm');
    response.writeHead(itsm ? 200 : 401).end(body);
  });
  const load = async (url: string) => {
    const before = process.threadCpuUsage();
    const result = await autocannon({ url, headers, duration: seconds, connections: CONCURRENT, workers: 1 });
    const { user, system } = process.threadCpuUsage(before);
    if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url} failed under load`);
    return (result.requests.total * 1_000_000) / (user + system);
  };
  try {
    return await inTurns(
      `request verified by ${name} / anonymous request`,
      rounds,
      () => load(verified.url),
      () => load(anybody.url),
    );
  } finally {
    for (const { server } of [anybody, verified]) server.close();
    await authenticator.close();
  }
}

async function serve(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

type Work = (lane: number) => Promise<unknown>;

function compare(
  name: string,
  { rounds, seconds }: Effort,
  work: { ours: Work; bare: Work },
): Promise<string> {
  return inTurns(
    name,
    rounds,
    () => rate(work.ours, seconds),
    () => rate(work.bare, seconds),
  );
}

/** By turns, so that a noisy moment of the machine does not hit one of the two alone; the median of each counts. */
async function inTurns(
  name: string,
  rounds: number,
  ours: () => Promise<number>,
  bare: () => Promise<number>,
): Promise<string> {
  const [our, their]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    our.push(await ours());
    their.push(await bare());
  }
  const [ourRate, bareRate] = [median(our), median(their)];
  return `${name}: ${Math.round(ourRate)}/s against ${Math.round(bareRate)}/s, ratio ${(ourRate / bareRate).toFixed(2)}`;
}

async function rate(work: Work, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1_000;
  let done = 0;
  const lane = async (index: number) => {
    while (performance.now() < end) {
      await work(index);
      done += 1;
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: CONCURRENT }, (_, index) => lane(index)));
  return (done * 1_000) / (performance.now() - started);
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
