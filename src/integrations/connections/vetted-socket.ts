import { Socket } from 'node:net';
import { connectionLookup } from './reachable-address.js';

/**
 * For drivers of databases, which give their socket a name to resolve: this one connects to the very address that was
 * vetted. TLS still checks the certificate against the name, which the driver knows.
 */
export function vettedSocket(): Socket {
  const socket = new Socket();
  const connect = socket.connect.bind(socket);
  const lookup = connectionLookup(true);
  return Object.assign(socket, {
    connect: (port: number, host: string) => connect({ port, host, lookup }),
  });
}
