import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConnectionTarget } from '../../../src/engines/engine.js';
import type { TaskSpec } from '../../../src/engines/task-spec.js';
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '../../webhooks/certificate-authority.js';
import { type EngineFixture, openEngine } from './engine-fixture.js';

/** No address but a name to the drivers; every resolver makes 169.254.169.254 of it. */
const LINK_LOCAL_NAME = '0xa9fea9fe';
const account = { database: 'd', user: 'u', password: 'p' };

let engine: EngineFixture;

beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine?.close());

const read = (connection: string, target: ConnectionTarget, source: object) => {
  engine.connections.set(connection, target);
  return engine.run(connection, { kind: 'source', connection, ...source } as TaskSpec);
};

it.each<[string, ConnectionTarget, object]>([
  [
    'postgres',
    { type: 'postgres', host: LINK_LOCAL_NAME, port: 5432, ...account },
    { type: 'postgres', table: 't' },
  ],
  ['mysql', { type: 'mysql', host: LINK_LOCAL_NAME, port: 3306, ...account }, { type: 'mysql', table: 't' }],
  [
    'http',
    { type: 'http', baseUrl: `http://${LINK_LOCAL_NAME}/latest`, headers: {}, allowPrivate: true },
    { type: 'http', path: 'meta-data' },
  ],
  [
    's3',
    {
      type: 'file',
      storage: 's3',
      bucket: 'lake',
      prefix: '',
      region: 'us-east-1',
      endpoint: `http://${LINK_LOCAL_NAME}`,
      forcePathStyle: true,
      allowPrivate: true,
    },
    { type: 'file', path: 'a.csv', format: 'csv' },
  ],
])(
  'a run reaches no link-local address through %s, where private ones are allowed',
  async (name, target, source) => {
    await expect(read(name, target, source)).rejects.toMatchObject({
      kind: 'CONNECTION',
      transient: false,
      message: expect.stringContaining('may not be reached'),
    });
  },
);

describe('a run that reads PostgreSQL over TLS', () => {
  let authority: CertificateAuthority;
  let server: Server | undefined;

  beforeAll(async () => {
    authority = await createCertificateAuthority();
  });
  afterAll(() => {
    server?.close();
  });

  /** Says yes to encryption, shows its certificate, and hangs up on whoever believes it. */
  async function startDatabase(name: string) {
    const { cert, key } = await authority.issue({ dns: [name] });
    const believers: unknown[] = [];
    server = createServer((socket: Socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write('S');
        const secure = new TLSSocket(socket, { isServer: true, cert, key });
        secure.on('error', () => undefined);
        secure.once('data', () => {
          believers.push(secure.servername);
          secure.destroy();
        });
      });
    }).listen(0, 'localhost');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const target = {
      type: 'postgres',
      host: 'localhost',
      port,
      ...account,
      ssl: { ca: authority.cert },
    } as const;
    return { target, believers };
  }

  it('checks the certificate against the name, although it connects to an address', async () => {
    const good = await startDatabase('localhost');
    await expect(read('good', good.target, { type: 'postgres', table: 't' })).rejects.toMatchObject({
      transient: true,
    });
    expect(good.believers).toEqual(['localhost']);
    server?.close();
    const bad = await startDatabase('elsewhere.test');
    await expect(read('bad', bad.target, { type: 'postgres', table: 't' })).rejects.toMatchObject({
      message: expect.stringContaining("does not match certificate's altnames"),
    });
    expect(bad.believers).toEqual([]);
  });
});
