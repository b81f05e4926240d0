import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import type { RequestClient } from '../../src/context.js';
import { readAuthCookie } from '../../src/gateway/auth-cookie.js';
import { describeClient } from '../../src/gateway/describe-client.js';

const PUBLIC_URL = 'https://desk.example.com';

const request = (headers: IncomingHttpHeaders, method = 'POST') => ({ headers, method }) as IncomingMessage;

describe('a cookie behind a proxy that has a public address', () => {
  const read = (headers: IncomingHttpHeaders) =>
    readAuthCookie(
      request({ host: '127.0.0.1:4000', cookie: 'a=b; itsm_auth_token=t; c=d', ...headers }),
      PUBLIC_URL,
    );

  it.each([
    [{ origin: PUBLIC_URL }],
    [{ origin: PUBLIC_URL, 'sec-fetch-site': 'same-origin' }],
    [{ origin: 'https://acme.desk.example.com', host: 'acme.desk.example.com' }],
  ])('is believed with %j', (headers) => {
    expect(read(headers)).toBe('t');
  });

  it.each([
    [{ origin: 'http://desk.example.com' }],
    [{ origin: 'https://acme.desk.example.com' }],
    [{ origin: 'https://desk.example.com.evil.test' }],
    [{ origin: 'https://desk.example.com:8443' }],
    [{ origin: 'nonsense' }],
    [{ origin: PUBLIC_URL, 'sec-fetch-site': 'cross-site' }],
    [{ origin: PUBLIC_URL, 'sec-fetch-site': 'none' }],
  ])('is not with %j', (headers) => {
    expect(() => read(headers)).toThrow(expect.objectContaining({ code: 'AUTHORIZATION_ERROR' }));
  });

  it('is another one’s when its name only begins alike', () => {
    expect(readAuthCookie(request({ cookie: 'itsm_auth_token2=t; x=itsm_auth_token=t' }), undefined)).toBe(
      undefined,
    );
  });
});

describe('the organization a request names', () => {
  const tenantOf = (headers: IncomingHttpHeaders, publicUrl?: string) => {
    const client = { address: '127.0.0.1' } as RequestClient;
    return describeClient(client, request(headers), undefined, publicUrl).tenant;
  };

  it.each<[IncomingHttpHeaders, string | undefined, ReturnType<typeof tenantOf>]>([
    [{ origin: 'https://acme.desk.example.com' }, PUBLIC_URL, { slug: 'acme', by: 'origin' }],
    [
      { origin: 'https://acme.desk.example.com', 'x-tenant-slug': 'globex' },
      PUBLIC_URL,
      { slug: 'globex', by: 'header' },
    ],
    [{ origin: PUBLIC_URL }, PUBLIC_URL, undefined],
    [{ origin: 'https://a.b.desk.example.com' }, PUBLIC_URL, undefined],
    [{ origin: 'https://acmedesk.example.com' }, PUBLIC_URL, undefined],
    [{ origin: 'https://acme.desk.example.com.evil.test' }, PUBLIC_URL, undefined],
    [{ origin: 'null' }, PUBLIC_URL, undefined],
    [{ origin: 'http://acme.localhost:3000' }, undefined, { slug: 'acme', by: 'origin' }],
    [{}, undefined, undefined],
  ])('%j at %s', (headers, publicUrl, tenant) => {
    expect(tenantOf(headers, publicUrl)).toEqual(tenant);
  });
});
