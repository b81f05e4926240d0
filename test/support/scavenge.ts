import { once } from 'node:events';
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

/** Bytes that `work` leaves on the heap once it is over and the young generation was collected, but not the old one. */
export async function keptByScavenges(work: () => Promise<void>): Promise<number> {
  collect();
  const before = process.memoryUsage().heapUsed;
  await work();
  // What lives is copied once and only then old; a third for what the second one sets free.
  for (let times = 0; times < 3; times += 1) collect({ type: 'minor' });
  return process.memoryUsage().heapUsed - before;
}

/** One request after the other over one connection; fetch would leave more behind than a server. */
export async function askAgainAndAgain(
  times: number,
  url: string,
  { body, ...options }: RequestOptions & { body?: string },
) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let n = 0; n < times; n += 1) {
    const [response] = (await once(request(url, { ...options, agent }).end(body), 'response')) as [
      IncomingMessage,
    ];
    await once(response.resume(), 'end');
    if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`);
  }
  agent.destroy();
}
