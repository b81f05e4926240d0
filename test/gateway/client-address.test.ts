import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { createClientAddress } from '../../src/gateway/client-address.js';
import { addressBlock } from '../../src/gateway/rate-limit/address-block.js';

/** What a server that trusts `proxies` takes for the address of a loopback client that sends this header. */
async function addressSeen(proxies: string[], forwarded?: string, host = '127.0.0.1'): Promise<string> {
  const addressOf = createClientAddress(proxies);
  const server = createServer((request, response) => response.end(addressOf(request)));
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const headers = { connection: 'close', ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }) };
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers });
  const seen = await response.text();
  server.close();
  return seen;
}

describe('the client address', () => {
  it.each([
    ['nobody is trusted', [], '203.0.113.9', '127.0.0.1'],
    ['the peer is not among the trusted', ['10.0.0.0/8'], '203.0.113.9', '127.0.0.1'],
    ['the peer is trusted', ['loopback'], '203.0.113.9', '203.0.113.9'],
    ['the client wrote an entry itself', ['127.0.0.1'], '192.0.2.7, 203.0.113.9', '203.0.113.9'],
    [
      'two proxies are trusted',
      ['127.0.0.1', '10.0.0.0/8'],
      '192.0.2.7, 203.0.113.9, 10.1.2.3',
      '203.0.113.9',
    ],
    ['all hops are trusted', ['127.0.0.1', '10.0.0.0/8'], '10.1.2.3', '10.1.2.3'],
    ['the entry is no address', ['loopback'], 'unknown', '127.0.0.1'],
    ['no header came', ['loopback'], undefined, '127.0.0.1'],
    ['it is IPv6', ['loopback'], '2001:DB8::7', '2001:DB8::7'],
    ['it is IPv4 in IPv6', ['loopback'], '::ffff:203.0.113.9', '203.0.113.9'],
  ])('when %s', async (_, proxies, forwarded, expected) => {
    expect(await addressSeen(proxies, forwarded)).toBe(expected);
  });

  it('is IPv4 for an IPv4 client of a server that listens on IPv6', async () => {
    expect(await addressSeen([], undefined, '::')).toBe('127.0.0.1');
  });
});

describe('an address is counted', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ])('%s as %s', (address, block) => {
    expect(addressBlock(address)).toBe(block);
  });
});
