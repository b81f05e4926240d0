import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AddressPolicy } from '../../src/integrations/http/public-address.js';
import { createWebhookSender, type WebhookSender } from '../../src/integrations/webhooks/webhook-sender.js';
import { createCertificateAuthority, type KeyPair } from './certificate-authority.js';

/** Stands for the whole internet; everything else is private. */
const PUBLIC = '127.0.0.2';
const PRIVATE = '127.0.0.1';
const NAME = 'receiver.test';

/** On one address and nowhere else, at the port that is asked for. */
async function startHost(pair: KeyPair, address: string, port: number) {
  const posts: string[] = [];
  let connections = 0;
  const server = createServer(pair, (request, response) => {
    posts.push(request.url ?? '');
    request.resume().on('end', () => response.writeHead(204, { connection: 'close' }).end());
  });
  server.on('connection', () => (connections += 1));
  server.listen(port, address);
  await once(server, 'listening');
  return {
    posts,
    connections: () => connections,
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers with the next of these each time, and with the last one from then on. */
function resolverOf(...answers: string[][]) {
  const asked: string[] = [];
  const lookup = (hostname: string, _options: object, callback: (...result: unknown[]) => void) => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(hostname);
    callback(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    );
  };
  const isPublic = (address: string) => address === PUBLIC;
  return { asked, policy: { lookup, isPublic } as unknown as AddressPolicy };
}

describe('a name that changes its mind (DNS rebinding)', () => {
  let directory: string;
  let caFile: string;
  let outside: Awaited<ReturnType<typeof startHost>>;
  let inside: Awaited<ReturnType<typeof startHost>>;
  const senders: WebhookSender[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'opsgraph-names-'));
    const ca = await createCertificateAuthority();
    const pair = await ca.issue({ dns: [NAME] });
    caFile = path.join(directory, 'ca.pem');
    await writeFile(caFile, ca.cert);
    outside = await startHost(pair, PUBLIC, 0);
    inside = await startHost(pair, PRIVATE, outside.port);
  });
  afterAll(async () => {
    for (const sender of senders) await sender.close();
    await Promise.all([outside.close(), inside.close()]);
    await rm(directory, { recursive: true, force: true });
  });

  function senderWith(addresses: AddressPolicy) {
    const sender = createWebhookSender({ allowedHosts: [], caFile, addresses });
    senders.push(sender);
    const url = `https://${NAME}:${outside.port}`;
    return {
      problem: () => sender.problemOf(new URL(url)),
      post: (where: string) => sender.post({ url: url + where, headers: {}, body: Buffer.from('{}') }),
    };
  }

  it('is connected to at the address that was vetted: it is asked for once for both', async () => {
    const { asked, policy } = resolverOf([PUBLIC], [PRIVATE]);
    expect(await senderWith(policy).post('/pinned')).toMatchObject({ status: 204 });
    expect(asked).toEqual([NAME]);
    expect(outside.posts).toContain('/pinned');
    expect(inside.connections()).toBe(0);
  });

  it('is refused at the next connection, although it was public when it was registered and posted to before', async () => {
    const { asked, policy } = resolverOf([PUBLIC], [PUBLIC], [PRIVATE]);
    const sender = senderWith(policy);
    expect(await sender.problem()).toBeUndefined();
    expect(await sender.post('/before')).toMatchObject({ status: 204 });
    expect(await sender.post('/after')).toMatchObject({ status: null, error: 'PRIVATE_ADDRESS' });
    expect(asked).toHaveLength(3);
    expect(outside.posts).not.toContain('/after');
    expect(inside.connections()).toBe(0);
  });

  it.each([[[PUBLIC, PRIVATE]], [[PRIVATE, PUBLIC]]])(
    'is refused when it stands for a public and a private address (%j)',
    async (addresses) => {
      const sender = senderWith(resolverOf(addresses).policy);
      expect(await sender.problem()).toBe('isPublicHost');
      expect(await sender.post('/both')).toMatchObject({ status: null, error: 'PRIVATE_ADDRESS' });
      expect(outside.posts).not.toContain('/both');
      expect(inside.connections()).toBe(0);
    },
  );
});
