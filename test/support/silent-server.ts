import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface SilentServer {
  host: string;
  port: number;
  /** The next client to come. */
  visited(): Promise<unknown>;
  close(): Promise<void>;
}

/** Takes connections and says nothing. */
export async function startSilentServer(): Promise<SilentServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  const host = '127.0.0.1';
  server.listen(0, host);
  await once(server, 'listening');
  return {
    host,
    port: (server.address() as AddressInfo).port,
    visited: () => once(server, 'connection'),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
