// Asks a URL at a fixed rate, whatever it answers (open loop), until it is told that it is over.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

export interface Asking {
  url: string;
  token: string;
  perSecond: number;
}

/** Both in milliseconds; `at` since the epoch. */
export interface Asked {
  at: number;
  took: number;
}

const { url, token, perSecond } = workerData as Asking;
if (!parentPort) throw new Error('This is a thread of a benchmark.');
const answered: Asked[] = [];

async function ask(due: number): Promise<void> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  await response.arrayBuffer();
  // Counted from when it was due, so that a server that stands still cannot hide it.
  answered.push({ at: performance.timeOrigin + due, took: performance.now() - due });
}

let isOver = false;
void once(parentPort, 'message').then(() => {
  isOver = true;
});
// Its connection is open, and the code of fetch is loaded, before anything is measured.
await ask(performance.now());
answered.length = 0;
parentPort.postMessage('asking');
const asked: Promise<void>[] = [];
const began = performance.now();
for (let n = 0; !isOver; n += 1) {
  const due = began + (n * 1_000) / perSecond;
  await delay(Math.max(0, due - performance.now()));
  asked.push(ask(due));
}
await Promise.all(asked);
parentPort.postMessage(answered);
