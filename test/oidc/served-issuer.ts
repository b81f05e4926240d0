import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createSigningKeys, type SigningKeys } from '../../src/domain/identity/index.js';
import { createOidcIssuer } from '../../src/oidc/create-oidc-issuer.js';
import type { TestNode } from '../identity/node.js';

export interface ServedIssuer {
  origin: string;
  issuer: string;
  keys: SigningKeys;
  close(): Promise<void>;
}

/** The embedded issuer of one node on a loopback port, as the server mounts it. */
export async function serveIssuer(node: TestNode, publicUrl?: string): Promise<ServedIssuer> {
  const app = express();
  const server = createServer(app);
  const origin = await listen(server);
  const issuer = `${publicUrl ?? origin}/oidc`;
  const keys = createSigningKeys(node.services, 'oidc');
  const embedded = await createOidcIssuer({
    services: node.services,
    keys,
    issuer,
    clientOf: () => ({ address: '127.0.0.1', countAttempt: async () => undefined }),
  });
  app.use('/oidc', embedded.router);
  return {
    origin,
    issuer,
    keys,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      embedded.close();
      await keys.close();
    },
  };
}

export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
