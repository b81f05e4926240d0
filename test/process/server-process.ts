import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { addToRunLog } from '../support/run-log.js';

const entry = path.resolve(import.meta.dirname, '../../dist/server.js');

export interface ServerProcess {
  url: string;
  pid: number;
  /** Lines it logged, newest last. */
  lines: string[];
  /** Resolves with the exit code, or the signal that ended it. */
  kill(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

/** The compiled server as its own process, ready to serve. */
export async function startServerProcess(env: Record<string, string>): Promise<ServerProcess> {
  const child = spawn(process.execPath, [entry], {
    env: { PATH: process.env['PATH'] ?? '', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  const url = await Promise.race([
    urlOf(child, lines),
    ended.then((code) => Promise.reject(new Error(`the server ended with ${code}: ${complaint}`))),
  ]);
  return {
    url,
    pid: child.pid ?? 0,
    lines,
    kill(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

async function urlOf(child: ChildProcess, lines: string[]): Promise<string> {
  if (!child.stdout) throw new Error('the server has no standard output');
  const reader = createInterface(child.stdout);
  return new Promise((resolve) => {
    reader.on('line', (line) => {
      lines.push(line);
      addToRunLog(line);
      const record = JSON.parse(line) as { msg?: string; url?: string };
      if (record.msg === 'ready' && record.url) resolve(record.url);
    });
  });
}
