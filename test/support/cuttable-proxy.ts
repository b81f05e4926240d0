import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export interface CuttableProxy {
  /** The given URL, by way of this proxy. */
  url: string;
  /** Ends every connection and refuses new ones, until mended. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  close(): Promise<void>;
}

/** Keeps a server away for as long as a test wants, which a restart of a second does not. */
export async function openCuttableProxy(target: string): Promise<CuttableProxy> {
  const to = new URL(target);
  const sockets = new Set<Socket>();
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;

  async function listen(onPort: number): Promise<Server> {
    const opened = createServer((here) => {
      const there = connect(Number(to.port), to.hostname);
      for (const [socket, other] of [
        [here, there],
        [there, here],
      ] as const) {
        sockets.add(socket);
        socket.on('error', () => other.destroy());
        socket.on('close', () => {
          sockets.delete(socket);
          other.destroy();
        });
      }
      here.pipe(there).pipe(here);
    });
    opened.listen(onPort, '127.0.0.1');
    await once(opened, 'listening');
    return opened;
  }

  async function cut(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return {
    url: Object.assign(new URL(target), { host: `127.0.0.1:${port}` }).href,
    cut,
    async mend() {
      server = await listen(port);
    },
    close: cut,
  };
}
