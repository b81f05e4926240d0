import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { createClosers } from './app/on-close.js';
import { openServices } from './app/open-services.js';
import { serveRequests } from './app/serve-requests.js';
import type { Config } from './config.js';
import type { Services } from './context.js';
import { unavailable } from './errors.js';
import { createErrorHandler } from './gateway/error-handler.js';
import { requestIdOf } from './gateway/request-record.js';
import { closeServer, createShutdown, type Shutdown } from './gateway/shutdown.js';
import { pathOf } from './gateway/surface.js';
import { createItsmErrors } from './rest/envelopes/itsm-errors.js';
import { createPlatformErrors } from './rest/envelopes/platform-errors.js';

export interface App {
  /** http://host:port, without a slash at the end. */
  readonly url: string;
  readonly services: Services;
  readonly shutdown: Shutdown;
}

/** What the outside sees as the time and the log of this process. */
export interface AppOptions {
  config: Config;
  log: Logger;
  now?: () => Date;
}

/** Seconds until a client should ask a starting server again. */
const STARTING_RETRY_SECONDS = 1;

/** The composition root: database, services, server, routes, work. @throws when any of them cannot start; all is closed then */
export async function startApp({ config, log, now = () => new Date() }: AppOptions): Promise<App> {
  const serving = createClosers();
  const standing = createClosers();
  const shutdown = createShutdown({ log });
  const surfaces = [
    { prefix: '/v1', errors: createItsmErrors({ requestId: requestIdOf, path: pathOf, now }) },
    { prefix: '/', errors: createPlatformErrors({ path: pathOf, now }) },
  ];
  try {
    const { services, pool, startWork } = await openServices(config, log, now, standing.add);
    const starting = createErrorHandler({ log, surfaces });
    let answer: RequestListener = (request, response) => {
      const error = unavailable('gateway', STARTING_RETRY_SECONDS);
      starting.send({ kind: 'thrown', error }, request, response);
    };
    const server = createServer((request, response) => answer(request, response));
    const url = await listen(server, config);
    standing.add('server', () => void server.close());
    shutdown.add('http', async () => {
      const closed = closeServer(server);
      for (const { close } of serving.newestFirst()) await close();
      await closed;
    });
    answer = await serveRequests({
      services,
      pool,
      server,
      surfaces,
      readiness: shutdown,
      url,
      onClose: serving.add,
    });
    await startWork();
    for (const { name, close } of standing.newestFirst()) shutdown.add(name, close);
    shutdown.ready();
    log.info({ url, role: config.role }, 'ready');
    return { url, services, shutdown };
  } catch (error) {
    for (const { close } of [...serving.newestFirst(), ...standing.newestFirst()]) {
      await (async () => close())().catch((failure: unknown) => log.error({ err: failure }, 'did not close'));
    }
    throw error;
  }
}

function listen(server: Server, { host, port }: Config): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new Error(`Cannot listen on ${host}:${port}: ${error.message}`)));
    server.listen(port, host, () => {
      const { address, family, port: bound } = server.address() as AddressInfo;
      const name = family === 'IPv6' ? `[${address}]` : address;
      resolve(`http://${name === '0.0.0.0' || name === '[::]' ? '127.0.0.1' : name}:${bound}`);
    });
  });
}
