import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import {
  createSigningKeys,
  type DemoTenant,
  type SigningKeys,
  seedDemo,
} from '../../src/domain/identity/index.js';
import { createOidcIssuer } from '../../src/oidc/create-oidc-issuer.js';
import { startNode, type TestNode } from '../identity/node.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

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

export interface IssuerHouse {
  database: TestDatabase;
  node: TestNode;
  acme: DemoTenant;
  served: ServedIssuer;
  close(): Promise<void>;
}

/** A database with the demo data and one node whose issuer is served. */
export async function openIssuerHouse(): Promise<IssuerHouse> {
  const database = await createTestDatabase();
  const node = await startNode(database.url);
  const { acme } = await seedDemo(node.services);
  const served = await serveIssuer(node);
  return {
    database,
    node,
    acme,
    served,
    async close() {
      await served.close();
      await node.close();
      await database.close();
    },
  };
}

export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
