import type { Server } from 'node:http';
import type { Logger } from 'pino';
import type { LifeStage, Readiness } from './health.js';

export interface ShutdownOptions {
  log: Logger;
  /** For the whole of it, milliseconds; what has not closed by then is cut off by the end of the process. */
  timeoutMs?: number;
  exit?: (code: number) => void;
}

export interface Shutdown extends Readiness {
  /** Called when everything a request needs is there. */
  ready(): void;
  /** Closers run in the order they were added, each waited for; a failing one is logged and the next one runs. */
  add(name: string, close: () => void | Promise<void>): void;
  /** Closes everything once; later calls get the same promise. True when all closed without error in time. */
  drain(reason: string): Promise<boolean>;
  /** SIGTERM and SIGINT drain and exit with 0, or 1 when something did not close; a second signal exits at once. */
  listen(): void;
  /** Takes the signal listeners away again. */
  close(): void;
}

const TIMEOUT_MS = 10_000;
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

export function createShutdown({
  log,
  timeoutMs = TIMEOUT_MS,
  exit = process.exit,
}: ShutdownOptions): Shutdown {
  const closers: { name: string; close: () => void | Promise<void> }[] = [];
  let stage: LifeStage = 'starting';
  let drained: Promise<boolean> | undefined;

  const runClosers = async (): Promise<boolean> => {
    let clean = true;
    for (const { name, close } of closers) {
      try {
        await close();
      } catch (error) {
        clean = false;
        log.error({ err: error, closer: name }, 'did not close');
      }
    }
    return clean;
  };

  const drain = (reason: string): Promise<boolean> => {
    drained ??= (() => {
      stage = 'draining';
      log.info({ reason }, 'draining');
      return within(timeoutMs, runClosers(), () => log.error({ timeoutMs }, 'drain took too long'));
    })();
    return drained;
  };

  const onSignal = (signal: NodeJS.Signals): void => {
    if (drained) {
      exit(1);
      return;
    }
    void drain(signal).then((clean) => {
      log.info({ clean }, 'stopped');
      exit(clean ? 0 : 1);
    });
  };

  return {
    get stage() {
      return stage;
    },
    ready() {
      if (stage === 'starting') stage = 'ready';
    },
    add: (name, close) => closers.push({ name, close }),
    drain,
    listen() {
      for (const signal of SIGNALS) process.on(signal, onSignal);
    },
    close() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

/** Stops accepting and resolves when the requests in flight are answered and their connections closed. */
export function closeServer(server: Server): Promise<void> {
  // close() ends idle connections only; without this one that is busy now would stay for another 5 s of keep-alive.
  server.keepAliveTimeout = 1;
  server.keepAliveTimeoutBuffer = 0;
  return new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
  });
}

async function within(ms: number, work: Promise<boolean>, onTimeout: () => void): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => {
      onTimeout();
      resolve(false);
    }, ms);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
