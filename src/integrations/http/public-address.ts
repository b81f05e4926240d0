import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An IP address is judged at once, since none is looked up for it; a name when it is resolved. */
export function isPublicHost(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  return !ipaddr.isValid(address) || isPublicAddress(address);
}

/** Loopback, private, link-local, CGNAT, ULA, NAT64, multicast and the like are not; a mapped IPv4 is what it maps. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.process(address).range() === 'unicast';
}

/** `name` or `name:port` of a list in lower case. */
export function isListedHost(hosts: readonly string[], { host, hostname }: URL): boolean {
  return hosts.includes(host) || hosts.includes(hostname);
}

/** How names are resolved, and which addresses a socket may be connected to. */
export interface AddressPolicy {
  lookup: typeof lookup;
  isPublic(address: string): boolean;
}

/**
 * For a socket's `lookup`: fails unless every address of the name is public. The socket connects to what was vetted
 * here, so a name that changes its mind in between (DNS rebinding) gains nothing.
 */
export function vettingLookup(policy: AddressPolicy): LookupFunction {
  return (hostname, options, callback) => {
    policy.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? new Error(`${hostname} has no address`), '', 0);
      const refused = addresses.find(({ address }) => !policy.isPublic(address));
      if (refused) return callback(new PrivateAddressError(hostname), '', 0);
      if (options.all) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}

/** The resolver of the machine. */
export const publicAddresses: AddressPolicy = { lookup, isPublic: isPublicAddress };
export const publicLookup = vettingLookup(publicAddresses);

/** Names no address: who chose the name is not to learn what it means inside our network. */
class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';
  readonly code = 'PRIVATE_ADDRESS';
  constructor(hostname: string) {
    super(`${hostname} resolves to an address that may not be reached`);
  }
}
