import '../../outlive-signals.js';
import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { niceAsSession } from '../../nice-session.js';
import type { FromChild } from './messages.js';
import type { FromNursery, ToNursery } from './nursery-messages.js';

/**
 * A small process that starts the engine's processes and passes on what is said. To fork is to copy the tables of the
 * process's own memory, which stops a server of some hundred megabytes for 10 to 20 ms each time.
 */

/** The server answers at once while runs compute: the kernel gives it a processor before them. */
const NICENESS = 19;

const children = new Map<number, ChildProcess>();

niceAsSession(NICENESS);

process.on('message', (message: ToNursery) => {
  if (message.type === 'start') start(message);
  else if (message.type === 'kill') children.get(message.id)?.kill('SIGKILL');
  else if (children.get(message.id)?.connected)
    children.get(message.id)?.send(message.message, () => undefined);
});
// The server is gone, and its children see that this process is.
process.on('disconnect', () => process.exit());

function start({ id, entry, directory }: Extract<ToNursery, { type: 'start' }>): void {
  const child = fork(entry, [], {
    cwd: directory,
    // Nothing of the server's environment: it may hold secrets, and pg would read PGHOST and its like from it.
    // DuckDB calls block a libuv thread each, and the default of 4 would queue the tasks of a wide level.
    env: { TZ: 'UTC', LC_ALL: 'C.UTF-8', UV_THREADPOOL_SIZE: '16' },
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  children.set(id, child);
  const gone = (exitCode: number | null, signalCode: NodeJS.Signals | null) => {
    if (children.delete(id)) tell({ type: 'gone', id, exitCode, signalCode });
  };
  child.on('message', (message: FromChild) => tell({ type: 'told', id, message }));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => tell({ type: 'complained', id, text }));
  child.once('exit', gone);
  // A process that could not be started has no 'exit'; other errors (a failed message) are followed by one.
  child.on('error', () => child.pid === undefined && gone(null, null));
  if (child.pid !== undefined) setPriority(child.pid, NICENESS);
  tell({ type: 'started', id, pid: child.pid });
}

function tell(message: FromNursery): void {
  if (process.connected) process.send?.(message);
}
