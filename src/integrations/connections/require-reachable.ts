import { lookup } from 'node:dns/promises';
import { isReachableAddress } from './reachable-address.js';

/**
 * For drivers that resolve names by themselves. A name nobody knows passes: the driver says so better.
 * @throws Error when the host has an address no connection may reach
 */
export async function requireReachable(host: string): Promise<void> {
  const addresses = await lookup(host, { all: true }).catch(() => []);
  if (addresses.every(({ address }) => isReachableAddress(address))) return;
  throw new Error(`${host} resolves to an address that connections may not reach`);
}
