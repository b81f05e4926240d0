import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddress from 'proxy-addr';

/** The address of whoever sent a request; the empty string when its connection is gone. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * X-Forwarded-For is read from its end, as long as the hop that wrote an entry is trusted: what a client writes into
 * it itself counts for nothing.
 * @param trustedProxies addresses, CIDR ranges, or loopback, linklocal, uniquelocal
 * @throws TypeError for what is none of these
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const addressOf = (request: IncomingMessage) => plain(request.socket.remoteAddress ?? '');
  if (trustedProxies.length === 0) return addressOf;
  const trusts = proxyAddress.compile([...trustedProxies]);
  return (request) => {
    if (request.headers['x-forwarded-for'] === undefined) return addressOf(request);
    const forwarded = plain(proxyAddress(request, trusts));
    return isIP(forwarded) === 0 ? addressOf(request) : forwarded;
  };
}

/** An IPv4 client of a socket that listens on IPv6 comes as ::ffff:192.0.2.1 (RFC 4291 section 2.5.5.2). */
function plain(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
