import type { Client } from 'pg';
import type { Logger } from 'pino';
import type { WakeChannel } from '../context.js';
import { createSteadyClient } from './steady-client.js';

export interface OpenWakeChannel extends WakeChannel {
  /** Resolves once both connections stood for the first time; wakes before that are not lost. */
  connected(): Promise<void>;
  healthy(): boolean;
  close(): Promise<void>;
}

const CHANNEL = 'opsgraph_wake';
/** Stands for every topic: what was missed during an outage is not known. */
const EVERYTHING = '*';
/** PostgreSQL refuses a NOTIFY payload of 8000 bytes or more. */
const MAX_PAYLOAD_BYTES = 7_999;
const MAX_PENDING = 10_000;
const RETRY_MS = 1_000;

/**
 * LISTEN and NOTIFY on a connection each, outside every transaction. A NOTIFY inside the writing transaction takes a
 * lock of the whole database until commit (18,700 commits/s fell to 5,000); here topics are collected for a few
 * milliseconds and sent in one statement. A lost wake is possible by design: consumers also poll, slowly.
 */
export function createWakeChannel(options: {
  databaseUrl: string;
  log: Logger;
  coalesceMs?: number;
}): OpenWakeChannel {
  const { databaseUrl, log, coalesceMs = 4 } = options;
  const listeners = new Map<string, Set<() => void>>();
  const pendingHere = new Set<string>();
  const pendingElsewhere = new Set<string>();
  let localTurn: NodeJS.Immediate | undefined;
  let sendTimer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let closed = false;

  const notifying = createSteadyClient({
    databaseUrl,
    name: 'opsgraph-notify',
    log,
    onConnected: () => {
      if (pendingElsewhere.size > 0) schedule(0);
    },
  });

  const listening = createSteadyClient({
    databaseUrl,
    name: 'opsgraph-listen',
    log,
    prepare: async (client) => {
      client.on('notification', ({ payload, processId }) => {
        if (payload !== undefined && !isOwn(processId)) payload.split('\n').forEach(call);
      });
      await client.query(`LISTEN ${CHANNEL}`);
      call(EVERYTHING);
    },
  });

  /** What this node sent was already heard here, directly. */
  function isOwn(processId: number): boolean {
    const client = notifying.current() as (Client & { processID?: number }) | undefined;
    return client?.processID === processId;
  }

  function call(topic: string): void {
    const woken = topic === EVERYTHING ? [...listeners.values()] : [listeners.get(topic) ?? new Set()];
    for (const listener of woken.flatMap((group) => [...group])) {
      try {
        listener();
      } catch (error) {
        log.error({ err: error, topic }, 'listener of a wake failed');
      }
    }
  }

  function callHere(): void {
    localTurn = undefined;
    const topics = [...pendingHere];
    pendingHere.clear();
    topics.forEach(call);
  }

  function schedule(delayMs: number): void {
    if (closed || sending || sendTimer) return;
    sendTimer = setTimeout(() => {
      sendTimer = undefined;
      sending = send().then((sent) => {
        sending = undefined;
        if (pendingElsewhere.size > 0 && notifying.current()) schedule(sent ? coalesceMs : RETRY_MS);
      });
    }, delayMs);
  }

  /** Without a connection the topics stay where they are; the next connection sends them. */
  async function send(): Promise<boolean> {
    const client = notifying.current();
    if (!client || pendingElsewhere.size === 0) return true;
    const topics = [...pendingElsewhere];
    pendingElsewhere.clear();
    try {
      await client.query('SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload', [
        CHANNEL,
        payloadsOf(topics),
      ]);
      return true;
    } catch (error) {
      log.warn({ err: error, topics: topics.length }, 'wakes not sent, trying again');
      topics.forEach(rememberElsewhere);
      return false;
    }
  }

  function rememberElsewhere(topic: string): void {
    if (pendingElsewhere.size >= MAX_PENDING) pendingElsewhere.clear();
    else if (!pendingElsewhere.has(EVERYTHING)) return void pendingElsewhere.add(topic);
    pendingElsewhere.add(EVERYTHING);
  }

  return {
    wake(topic) {
      if (closed) return;
      assertTopic(topic);
      pendingHere.add(topic);
      localTurn ??= setImmediate(callHere);
      rememberElsewhere(topic);
      schedule(coalesceMs);
    },
    on(topic, listener) {
      assertTopic(topic);
      const group = listeners.get(topic) ?? new Set();
      listeners.set(topic, group.add(listener));
      return () => {
        group.delete(listener);
        if (group.size === 0 && listeners.get(topic) === group) listeners.delete(topic);
      };
    },
    async connected() {
      await Promise.all([listening.connected(), notifying.connected()]);
    },
    healthy: () => listening.current() !== undefined && notifying.current() !== undefined,
    async close() {
      if (closed) return;
      closed = true;
      clearImmediate(localTurn);
      clearTimeout(sendTimer);
      await sending;
      await send();
      await Promise.all([listening.close(), notifying.close()]);
      listeners.clear();
    },
  };
}

function assertTopic(topic: string): void {
  if (topic === '' || topic === EVERYTHING || topic.includes('\n') || Buffer.byteLength(topic) > 200)
    throw new TypeError(`not a topic: ${JSON.stringify(topic.slice(0, 80))}`);
}

/** Topics one per line, as few payloads as PostgreSQL's limit allows. */
function payloadsOf(topics: string[]): string[] {
  const payloads: string[] = [];
  let lines = '';
  for (const topic of topics) {
    const longer = lines === '' ? topic : `${lines}\n${topic}`;
    if (Buffer.byteLength(longer) <= MAX_PAYLOAD_BYTES) {
      lines = longer;
      continue;
    }
    payloads.push(lines);
    lines = topic;
  }
  if (lines !== '') payloads.push(lines);
  return payloads;
}
