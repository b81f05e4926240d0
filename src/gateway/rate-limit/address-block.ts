import ipaddr from 'ipaddr.js';

/**
 * Whom an address is counted as. Whoever has one IPv6 address has the 2^64 of its /64 (RFC 6177 section 2), so
 * these count as one; an IPv4 address counts for itself.
 */
export function addressBlock(address: string): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address;
  const groups = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}
