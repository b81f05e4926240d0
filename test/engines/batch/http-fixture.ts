import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { TaskOutcome } from '../../../src/engines/engine.js';
import type { HttpSourceSpec } from '../../../src/engines/task-spec.js';
import { type EngineFixture, openEngine, readParquet } from './engine-fixture.js';

/** A server whose answers the test gives, and an engine with connections to it: `api`, `public` and `named`. */
export class HttpServer {
  engine!: EngineFixture;
  base = '';
  requests: IncomingMessage[] = [];
  answer: (request: URL, response: ServerResponse) => void = (_, response) => response.end();
  #server!: Server;
  #number = 0;

  constructor() {
    beforeAll(() => this.#open());
    afterAll(async () => {
      await this.engine?.close();
      this.#server.closeAllConnections();
      this.#server.close();
    });
    beforeEach(() => {
      this.requests = [];
    });
  }

  asked(): (string | undefined)[] {
    return this.requests.map(({ url }) => url);
  }

  async read(
    spec: Partial<HttpSourceSpec>,
  ): Promise<{ outcome: TaskOutcome; rows: Record<string, unknown>[] }> {
    const id = `h${++this.#number}`;
    const outcome = await this.engine.run(id, from(spec));
    return { outcome, rows: await readParquet(join(this.engine.options.runDirectory, `${id}.parquet`)) };
  }

  async #open(): Promise<void> {
    this.#server = createServer((request, response) => {
      this.requests.push(request);
      this.answer(new URL(request.url ?? '', this.base), response);
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.base = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api`;
    this.engine = await openEngine();
    const connection = {
      type: 'http',
      baseUrl: this.base,
      headers: { Authorization: 'Bearer s3cret' },
    } as const;
    this.engine.connections.set('api', { ...connection, allowPrivate: true });
    this.engine.connections.set('public', { ...connection, allowPrivate: false });
    this.engine.connections.set('named', {
      ...connection,
      baseUrl: this.base.replace('http://127.0.0.1', 'https://localhost'),
      allowPrivate: false,
    });
  }
}

export const from = (spec: Partial<HttpSourceSpec>): HttpSourceSpec => ({
  kind: 'source',
  type: 'http',
  connection: 'api',
  path: '/orders',
  ...spec,
});

export const json = (response: ServerResponse, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

/** Five orders. */
export const ALL = Array.from({ length: 5 }, (_, index) => ({ id: index + 1 }));
export const idsOf = (rows: readonly Record<string, unknown>[]) => rows.map(({ id }) => Number(id));
