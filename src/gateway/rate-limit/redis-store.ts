import { createClient, defineScript, type RedisArgument } from '@redis/client';
import type { Logger } from 'pino';
import { createCircuit } from './circuit.js';
import type { Claim, LimitStore, Standing } from './limit.js';
import { TAKE_SCRIPT } from './redis-script.js';

export interface RedisStoreOptions {
  /** redis: or rediss:, credentials included; never logged. */
  url: string;
  log: Logger;
  /** Milliseconds since 1970. Without it Redis's own clock counts, so that nodes need not agree on the time. */
  now?: () => number;
  timeoutMs?: number;
}

/** On one machine or in one zone an answer takes 0.1 to 2 ms; nobody shall notice that there is none. */
const TIMEOUT_MS = 75;
const PROBE_MS = 250;
const CONNECT_MS = 1_000;
/** A connection over which nothing came for so long is replaced: the other end may be gone without a word. */
const SILENCE_MS = 4_000;
const PING_MS = 1_000;
const KEY_PREFIX = 'opsgraph:limit:';

const take = defineScript({
  SCRIPT: TAKE_SCRIPT,
  parseCommand(parser, keys: RedisArgument[], parameters: RedisArgument[]) {
    parser.pushKeysLength(keys);
    parser.push(...parameters);
  },
  transformReply: (reply: number[]) => reply,
});

/** Counts in Redis 5 or later (or Valkey), shared by all nodes. It may be away at the start and at any time. */
export async function createRedisStore(options: RedisStoreOptions): Promise<LimitStore> {
  const { log, now } = options;
  const client = createClient({
    url: options.url,
    RESP: 2,
    name: 'opsgraph-rate-limit',
    scripts: { take },
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    pingInterval: PING_MS,
    // The circuit has a timer of its own, and this one would be an AbortSignal for each command.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      reconnectStrategy: (retries) => Math.min(1_000, 25 * 2 ** Math.min(retries, 6)),
    },
  });
  const health = createHealthLog(log);
  client.on('error', health.isAway);
  client.on('ready', health.isBack);
  const circuit = createCircuit({
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    probeMs: PROBE_MS,
    probe: () => client.ping(),
  });
  await connected(client.connect());

  return {
    async take(claims) {
      const at = now === undefined ? -1 : now();
      const keys = claims.map(({ key }) => KEY_PREFIX + key);
      const parameters = [String(at), ...claims.flatMap(parametersOf)];
      try {
        const reply = await circuit.run(() => client.take(keys, parameters));
        health.isBack();
        return standingsOf(reply);
      } catch (error) {
        health.isAway(error);
        throw error;
      }
    },
    close() {
      circuit.close();
      client.destroy();
    },
  };
}

/** A start waits a moment, so that the first requests are counted, and goes on without: the client keeps trying. */
async function connected(connecting: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CONNECT_MS);
  });
  // Rejected only when the client is closed before it ever was connected.
  await Promise.race([connecting.catch(() => undefined), patience]);
  clearTimeout(timer);
}

function parametersOf({ limit }: Claim): string[] {
  const [first, second] =
    limit.kind === 'window' ? [limit.limit, limit.windowMs] : [limit.perMinute, limit.burst];
  return [limit.kind, String(first), String(second)];
}

function standingsOf(reply: readonly number[]): Standing[] {
  const standings: Standing[] = [];
  for (let index = 0; index < reply.length; index += 3) {
    const [allowed, remaining = 0, freesInMs = 1] = reply.slice(index, index + 3);
    standings.push({ allowed: allowed === 1, remaining, freesInMs });
  }
  return standings;
}

/** One line when it goes and one when it is back, however many requests notice. */
function createHealthLog(log: Logger) {
  let away = false;
  return {
    isAway(error: unknown) {
      if (!away) log.warn({ cause: error instanceof Error ? error.message : String(error) }, 'Redis is away');
      away = true;
    },
    isBack() {
      if (away) log.info('Redis is back');
      away = false;
    },
  };
}
