/**
 * Requests per second of one JSON route through the bridge, as ratios of the same JSON from a bare Express handler and
 * from graphql-js behind Express, all in one run. Build first: `tsc -b packages/rest-graphql-bridge`.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';

const PEERS = ['bridge', 'bare Express', 'graphql-js behind Express'] as const;
type Peer = (typeof PEERS)[number];

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const SECONDS = Number(process.env.SECONDS ?? 3);
const CONNECTIONS = 16;

async function start(peer: Peer): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(fileURLToPath(new URL('./server.ts', import.meta.url)), [peer]);
  const [port] = await once(child, 'message');
  return { child, url: `http://127.0.0.1:${port}/books?limit=25` };
}

async function load(url: string, duration: number): Promise<number> {
  const { requests, non2xx, errors } = await autocannon({ url, duration, connections: CONNECTIONS });
  if (non2xx > 0 || errors > 0) throw new Error(`${non2xx} bad answers and ${errors} errors from ${url}`);
  return requests.average;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const running = new Map<Peer, { child: ChildProcess; url: string }>();
const rates = new Map<Peer, number[]>(PEERS.map((peer) => [peer, []]));
try {
  for (const peer of PEERS) running.set(peer, await start(peer));
  const bodies = await Promise.all([...running.values()].map(async ({ url }) => (await fetch(url)).text()));
  if (new Set(bodies).size !== 1) throw new Error('The peers do not answer the same JSON');
  for (const { url } of running.values()) await load(url, 1);
  // Peers take turns, so that a noisy moment of the machine does not hit one of them alone.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [peer, { url }] of running) rates.get(peer)?.push(await load(url, SECONDS));
  }
} finally {
  for (const { child } of running.values()) child.kill();
}

const bridge = median(rates.get('bridge') ?? []);
console.log(`bridge: ${Math.round(bridge)} requests/s (median of ${ROUNDS} rounds of ${SECONDS} s)`);
for (const peer of PEERS.filter((name) => name !== 'bridge')) {
  const rate = median(rates.get(peer) ?? []);
  console.log(`bridge / ${peer}: ${(bridge / rate).toFixed(2)} (${peer}: ${Math.round(rate)} requests/s)`);
}
