import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../src/config.js';

describe('parseConfig', () => {
  it('fills in what is not set', () => {
    const config = parseConfig({}, '/srv/opsgraph');
    expect(config).toMatchObject({
      port: 4000,
      host: '127.0.0.1',
      dataDir: '/srv/opsgraph/.opsgraph',
      databaseUrl: undefined,
      role: 'all',
      seedDemo: true,
      rateLimitDisabled: false,
    });
    expect(config.filesRoots[0]).toBe('/srv/opsgraph/.opsgraph/files');
  });

  it('seeds a database of somebody else only when told to', () => {
    const own = { DATABASE_URL: 'postgres://localhost/opsgraph' };
    expect(parseConfig(own, '/').seedDemo).toBe(false);
    expect(parseConfig({ ...own, SEED: 'demo' }, '/').seedDemo).toBe(true);
    expect(parseConfig({ SEED: 'none' }, '/').seedDemo).toBe(false);
  });

  it.each([
    ['PORT', 'eighty', /PORT: /],
    ['PORT', '70000', /PORT: /],
    [
      'DATABASE_URL',
      'mysql://localhost/x',
      /DATABASE_URL: must be a URL starting with postgres:\/\/ or postgresql:\/\//,
    ],
    ['MONGODB_URL', 'http://localhost', /MONGODB_URL: must be a URL starting with mongodb:\/\//],
    ['REDIS_URL', 'localhost', /REDIS_URL: /],
    ['OIDC_DISCOVERY_URL', 'issuer', /OIDC_DISCOVERY_URL: /],
    ['SEED', 'yes', /SEED: /],
    ['ROLE', 'both', /ROLE: /],
    [
      'GATEWAY_UPSTREAMS',
      'http://copilot',
      /GATEWAY_UPSTREAMS: must be a JSON object of path prefixes and URLs/,
    ],
    [
      'GATEWAY_UPSTREAMS',
      '{"/v1":"http://h"}',
      /GATEWAY_UPSTREAMS: has a prefix that does not begin with \/api\//,
    ],
    ['GATEWAY_UPSTREAMS', '{"/api/v1/":"http://h"}', /GATEWAY_UPSTREAMS: has a prefix/],
    ['GATEWAY_UPSTREAMS', '{"/api/v1/ai":7}', /GATEWAY_UPSTREAMS: has no URL for \/api\/v1\/ai/],
    [
      'GATEWAY_UPSTREAMS',
      '{"/api/v1/ai":"ftp://h"}',
      /GATEWAY_UPSTREAMS: has a URL for \/api\/v1\/ai that is not/,
    ],
    ['GATEWAY_UPSTREAMS', '{"/api/v1/ai":"http://u:p@h"}', /GATEWAY_UPSTREAMS: has a URL for/],
    ['GATEWAY_UPSTREAM_TIMEOUT_MS', '0', /GATEWAY_UPSTREAM_TIMEOUT_MS: /],
    ['RATE_LIMIT_DISABLED', 'maybe', /RATE_LIMIT_DISABLED: /],
    ['FILES_ROOTS', '/srv/in,/', /FILES_ROOTS: must not hold DATA_DIR/],
    ['FILES_ROOTS', '.opsgraph', /FILES_ROOTS: must not hold DATA_DIR/],
    ['TRINO_URL', 'http://u:p@trino:8080', /TRINO_URL: has a password, so it must start with https/],
    ['TRINO_CATALOGS', 'lake=hive', /TRINO_CATALOGS: "lake=hive" must be <workspace id or \*>/],
    ['OPSGRAPH_SECRET_KEY', 'short', /OPSGRAPH_SECRET_KEY: must be 32 bytes in hexadecimal/],
  ])('refuses %s=%s with a sentence', (name, value, sentence) => {
    expect(() => parseConfig({ [name]: value }, '/')).toThrow(sentence);
  });

  it('reads upstreams, the most specific first', () => {
    const text = '{"/api/v1":"https://all.example/base/","/api/v1/copilot":"http://copilot:8000"}';
    expect(parseConfig({ GATEWAY_UPSTREAMS: text }, '/').upstreams).toEqual([
      { prefix: '/api/v1/copilot', service: 'copilot', origin: 'http://copilot:8000', basePath: '' },
      { prefix: '/api/v1', service: 'v1', origin: 'https://all.example', basePath: '/base' },
    ]);
    expect(parseConfig({}, '/').upstreams).toEqual([]);
  });

  it('reads a Trino, and which connections are catalogs of it', () => {
    const id = '00000000-0000-4000-8000-000000000001';
    const env = { TRINO_URL: 'https://etl:p%40ss@trino:8443/', TRINO_CATALOGS: `*/lake=hive, ${id}/shop=pg` };
    expect(parseConfig(env, '/').trino).toEqual({
      url: 'https://trino:8443',
      user: 'etl',
      password: 'p@ss',
      catalogs: new Map([
        ['*/lake', 'hive'],
        [`${id}/shop`, 'pg'],
      ]),
    });
    expect(parseConfig({ TRINO_URL: 'http://trino:8080' }, '/').trino).toMatchObject({ user: 'opsgraph' });
    expect(parseConfig({}, '/').trino).toBeUndefined();
  });

  it('names every wrong variable at once', () => {
    expect(() => parseConfig({ PORT: '-1', ROLE: 'x' }, '/')).toThrow(/PORT: .* ROLE: /);
  });

  it('never repeats the value: it may hold a password', () => {
    expect(() => parseConfig({ DATABASE_URL: 'mysql://user:hunter2@localhost/x' }, '/')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    );
  });
});
