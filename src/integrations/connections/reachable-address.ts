import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isPublicAddress, isPublicHost, vettingLookup } from '../http/public-address.js';

/** IPv6 ranges that carry an IPv4 address of their own (RFC 6052, 3056, 4380): they could carry a link-local one. */
const CARRYING: ReadonlySet<string> = new Set(['rfc6052', '6to4', 'teredo']);
/** Where clouds keep the credentials of a machine outside of the link-local range: Amazon over IPv6, Alibaba. */
const METADATA: ReadonlySet<string> = new Set(['fd00:ec2::254', '100.100.100.200']);

/** False for what no connection may reach, wherever it points: link-local addresses and the metadata services of clouds. */
export function isReachableAddress(address: string): boolean {
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  return range !== 'linkLocal' && !CARRYING.has(range) && !METADATA.has(parsed.toString());
}

/** The same of a host that may be a name, which is judged when it is resolved: see `connectionLookup`. */
export function isReachableHost(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  return !ipaddr.isValid(address) || isReachableAddress(address);
}

/**
 * Whether a service may be asked there: over https at a public address; where private ones are allowed, over http too,
 * at whatever `isReachableHost` lets through. A name is judged once more when it is resolved.
 */
export function mayBeAsked({ protocol, hostname }: URL, allowPrivate: boolean): boolean {
  if (allowPrivate) return /^https?:$/.test(protocol) && isReachableHost(hostname);
  return protocol === 'https:' && isPublicHost(hostname);
}

/**
 * For the sockets of connections. What is connected to is what was vetted (see vettingLookup).
 * @param allowPrivate whether addresses of the own network may be reached; never those of `isReachableAddress`
 */
export function connectionLookup(allowPrivate: boolean): LookupFunction {
  return vettingLookup({ lookup, isPublic: allowPrivate ? isReachableAddress : isPublicAddress });
}
