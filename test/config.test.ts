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
    ['RATE_LIMIT_DISABLED', 'maybe', /RATE_LIMIT_DISABLED: /],
    ['OPSGRAPH_SECRET_KEY', 'short', /OPSGRAPH_SECRET_KEY: must be 32 bytes in hexadecimal/],
  ])('refuses %s=%s with a sentence', (name, value, sentence) => {
    expect(() => parseConfig({ [name]: value }, '/')).toThrow(sentence);
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
