import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createShutdown } from '../../src/gateway/shutdown.js';
import { captureLog } from './gateway-server.js';

const PROGRAM = fileURLToPath(new URL('shutdown-process.mjs', import.meta.url));

interface Line {
  event: string;
  port?: number;
  url?: string;
}

let child: ChildProcess;
let lines: Line[];
let reader: Interface;

async function start(timeoutMs = 5_000, ...args: string[]): Promise<string> {
  child = spawn(process.execPath, [PROGRAM, String(timeoutMs), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
  });
  if (!child.stdout) throw new Error('no stdout');
  lines = [];
  reader = createInterface(child.stdout);
  reader.on('line', (line) => lines.push(JSON.parse(line)));
  await told('listening');
  return `http://127.0.0.1:${lines[0]?.port}`;
}

afterEach(async () => {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

async function told(event: string, url?: string): Promise<void> {
  while (!lines.some((line) => line.event === event && (url === undefined || line.url === url))) {
    await once(reader, 'line');
  }
}

const exited = async (): Promise<unknown[]> => once(child, 'exit');

describe('SIGTERM', () => {
  it('finishes what is in flight, closes streams, stops accepting, closes in order, exits with 0', async () => {
    const url = await start();
    const agent = new Agent({ keepAlive: true });
    const idle = get(`${url}/`, { agent });
    const [before] = (await once(idle, 'response')) as [IncomingMessage];
    expect(await text(before)).toBe('ready');
    const slow = once(get(`${url}/slow`, { agent }), 'response') as Promise<[IncomingMessage]>;
    const [stream] = (await once(get(`${url}/stream`), 'response')) as [IncomingMessage];
    await told('asked', '/slow');
    const exit = exited();
    const signalled = performance.now();
    child.kill('SIGTERM');
    const [answer] = await slow;
    expect(await text(answer)).toBe('done');
    expect(await text(stream)).toBe('data: 1\n\n');
    expect(await exit).toStrictEqual([0, null]);
    // Well under the 5 s for which an idle connection would have been kept.
    expect(performance.now() - signalled).toBeLessThan(2_000);
    expect(lines.map(({ event }) => event).slice(-6)).toStrictEqual([
      'draining',
      'closing streams',
      'closing server',
      'closing jobs',
      'closing database',
      'stopped',
    ]);
    await expect(fetch(url)).rejects.toThrow();
    agent.destroy();
  });

  it('exits with 1 when something did not close, after closing the rest', async () => {
    await start(5_000, 'failing');
    const exit = exited();
    child.kill('SIGINT');
    expect(await exit).toStrictEqual([1, null]);
    expect(lines.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['did not close', 'closing database']),
    );
  });

  it('gives up after its time', async () => {
    const url = await start(200);
    const stuck = fetch(`${url}/stuck`).catch(() => 'cut off');
    await told('stuck');
    const exit = exited();
    child.kill('SIGTERM');
    expect(await exit).toStrictEqual([1, null]);
    expect(await stuck).toBe('cut off');
    expect(lines).toContainEqual({ event: 'drain took too long', timeoutMs: 200 });
  });

  it('exits at once when it comes a second time', async () => {
    const url = await start(60_000);
    const stuck = fetch(`${url}/stuck`).catch(() => 'cut off');
    await told('stuck');
    const exit = exited();
    child.kill('SIGTERM');
    await told('closing server');
    child.kill('SIGTERM');
    expect(await exit).toStrictEqual([1, null]);
    expect(await stuck).toBe('cut off');
  });
});

describe('a shutdown', () => {
  it('goes from starting over ready to draining, and never back', async () => {
    const shutdown = createShutdown({ log: captureLog().log });
    const stages = [shutdown.stage];
    shutdown.ready();
    stages.push(shutdown.stage);
    let closed = 0;
    shutdown.add('thing', () => void closed++);
    expect(await Promise.all([shutdown.drain('a'), shutdown.drain('b')])).toStrictEqual([true, true]);
    shutdown.ready();
    stages.push(shutdown.stage);
    expect(stages).toStrictEqual(['starting', 'ready', 'draining']);
    expect(closed).toBe(1);
  });
});

async function text(response: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return body;
}
