import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startGateway, type TestGateway, type TestGatewayOptions } from './gateway-server.js';

let gateway: TestGateway;
afterEach(() => gateway.close());

async function start(options?: TestGatewayOptions): Promise<string> {
  gateway = await startGateway(options);
  return gateway.url;
}

/** fetch hides what was on the wire; node:http shows it. */
async function rawGet(
  url: string,
  headers: Record<string, string>,
): Promise<{ response: IncomingMessage; body: Buffer }> {
  const [response] = (await once(get(url, { headers }), 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { response, body: Buffer.concat(chunks) };
}

describe('compression', () => {
  const body = JSON.stringify({ data: 'lorem ipsum '.repeat(2_000) });
  const mount: TestGatewayOptions['mount'] = (app) => {
    app.get('/large', (_request, response) => void response.type('json').send(body));
    app.get('/small', (_request, response) => void response.type('json').send('{"a":"'.padEnd(15_000, 'a')));
    app.get('/bytes', (_request, response) => void response.type('png').send(Buffer.alloc(50_000)));
    app.get('/events', (_request, response) => {
      response.setHeader('content-type', 'text/event-stream');
      response.write(`data: ${'x'.repeat(20_000)}\n\n`);
    });
  };

  it('is applied to a large answer when the client takes it', async () => {
    const url = await start({ mount });
    const { response, body: wire } = await rawGet(`${url}/large`, { 'accept-encoding': 'gzip' });
    expect(response.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(wire.length).toBeLessThan(1_000);
    expect(gunzipSync(wire).toString()).toBe(body);
  });

  it.each([
    { path: '/large', encoding: undefined },
    { path: '/large', encoding: 'identity' },
    { path: '/small', encoding: 'gzip' },
    { path: '/bytes', encoding: 'gzip' },
  ])('is not applied to $path for accept-encoding $encoding', async ({ path, encoding }) => {
    const url = await start({ mount });
    const { response } = await rawGet(
      url + path,
      encoding === undefined ? {} : { 'accept-encoding': encoding },
    );
    expect(response.headers['content-encoding']).toBeUndefined();
  });

  it('waits for the compressor where the answer is written in pieces', async () => {
    const pieces = 400;
    const url = await start({
      mount: (app) => {
        app.get('/pieces', async (_request, response) => {
          response.type('json');
          let goOn: () => void = () => undefined;
          response.on('drain', () => goOn());
          for (let n = 0; n < pieces; n += 1) {
            const drained = new Promise<void>((resolve) => {
              goOn = resolve;
            });
            if (!response.write(randomBytes(16_384).toString('hex'))) await drained;
          }
          response.end();
        });
      },
    });
    const { response, body: wire } = await rawGet(`${url}/pieces`, { 'accept-encoding': 'gzip' });
    expect(response.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(wire)).toHaveLength(pieces * 32_768);
  });

  it('lets an event out at once', async () => {
    const url = await start({ mount });
    const response = await fetch(`${url}/events`, { headers: { 'accept-encoding': 'gzip' } });
    expect(response.headers.get('content-encoding')).toBeNull();
    const reader = response.body?.getReader();
    expect((await reader?.read())?.value?.length).toBeGreaterThan(0);
    await reader?.cancel();
  });
});
