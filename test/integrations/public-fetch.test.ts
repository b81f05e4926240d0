import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isPublicAddress } from '../../src/integrations/http/public-address.js';
import { createPublicFetch, type PublicFetch } from '../../src/integrations/http/public-fetch.js';
import { listen } from '../oidc/served-issuer.js';

let server: Server;
let origin: string;
let hits = 0;
let open: PublicFetch;
let closed: PublicFetch;

beforeAll(async () => {
  server = createServer((request, response) => {
    hits += 1;
    if (request.url === '/redirect') return response.writeHead(302, { location: '/' }).end();
    if (request.url === '/endless') return void response.write('x'.repeat(2_000_000));
    return response.end('hello');
  });
  origin = await listen(server);
  open = createPublicFetch(['127.0.0.1']);
  closed = createPublicFetch([]);
});

afterAll(async () => {
  await Promise.all([open.close(), closed.close()]);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('a public address', () => {
  it.each(['8.8.8.8', '2606:4700:4700::1111', '::ffff:8.8.8.8'])('is %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
  ])('is not %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('fetch', () => {
  it('reaches a host that was allowed, also over http', async () => {
    expect(await (await open.fetch(origin)).text()).toBe('hello');
  });

  it('connects to nothing else that is private: neither by number nor by name', async () => {
    hits = 0;
    const { port } = new URL(origin);
    for (const url of [
      origin,
      `https://127.0.0.1:${port}`,
      `https://[::1]:${port}`,
      `https://2130706433:${port}`,
    ])
      await expect(closed.fetch(url)).rejects.toThrow(/not permitted/);
    // A name is judged by what it resolves to.
    await expect(closed.fetch(`https://localhost:${port}`)).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/^localhost resolves to/) },
    });
    await expect(closed.fetch('file:///etc/passwd')).rejects.toThrow(/isHttps/);
    expect(hits).toBe(0);
  });

  it('follows no redirect and reads no more than a megabyte', async () => {
    await expect(open.fetch(`${origin}/redirect`)).rejects.toThrow();
    const endless = await open.fetch(`${origin}/endless`);
    await expect(endless.text()).rejects.toThrow();
  });
});
