import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../../src/config.js';
import { createEndpointLimits } from '../../../src/gateway/rate-limit/endpoint-limit.js';
import { bucketOf, windowOf } from '../../../src/gateway/rate-limit/limit.js';

const { rateLimits } = parseConfig({}, '/');
const limitFor = createEndpointLimits(rateLimits);

describe('the limits', () => {
  it.each([
    ['GET', '/api/v1/pipelines', 600],
    ['OPTIONS', '/api/v1/pipelines', 600],
    ['POST', '/api/v1/pipelines', 300],
    ['DELETE', '/api/v1/pipelines/:id', 300],
    ['POST', '/api/v1/pipelines/:id/run', 300],
    ['GET', '/api/v1/runs/:runId', 1_200],
    ['GET', '/api/v1/runs/:runId/stream', 600],
    ['POST', '/api/v1/runs/:runId/cancel', 300],
    ['POST', '/api/v1/orchestrator/trigger', 120],
    ['POST', '/api/v1/orchestrator/xsched/trigger/:dagId', 120],
    ['GET', '/api/v1/orchestrator/webhooks', 600],
    ['POST', '/api/v1/orchestrator/webhooks', 300],
    ['POST', '/api/v1/copilot/chat', 60],
    ['GET', '/api/v1/copilot/chat/stream', 60],
    ['POST', '/api/v1/ai/chat', 60],
    ['POST', '/api/copilot/agent/approve', 60],
    ['POST', '/api/copilot/suggest', 300],
    ['POST', '/api/v1/copilot/suggest', 300],
    ['POST', '/api/v1/ai/suggest', 300],
    ['GET', '/api/v1/ai/copilot', 60],
    ['POST', '/graphql', 600],
  ])('%s %s: %d in any minute, shared by all nodes', (method, template, perMinute) => {
    expect(limitFor(method, template)).toMatchObject({ limit: windowOf(perMinute), count: 'shared' });
  });

  it.each([
    ['GET', '/v1/tickets/:id', bucketOf(6_000, 2_400)],
    ['POST', '/v1/auth/login', windowOf(300)],
    ['POST', '/v1/auth/mfa/verify', windowOf(300)],
    ['DELETE', '/v1', bucketOf(6_000, 2_400)],
  ])('%s %s: a guard of each node', (method, template, limit) => {
    expect(limitFor(method, template)).toMatchObject({ limit, count: 'node' });
  });

  it('are the documented ones for organizations, keys and attempts', () => {
    expect(rateLimits).toMatchObject({
      organization: 3_000,
      organizationBurst: 1_200,
      apiKey: 600,
      attempt: 10,
    });
  });

  it('count HEAD as GET, and each method of an endpoint for itself', () => {
    const prefix = (method: string) => limitFor(method, '/api/v1/pipelines/:id').keyPrefix;
    expect(prefix('HEAD')).toBe(prefix('GET'));
    expect(new Set(['GET', 'PUT', 'DELETE'].map(prefix)).size).toBe(3);
  });

  it('are changed by their variables', () => {
    const config = parseConfig({ RATE_LIMIT_READ_PER_MINUTE: '7', RATE_LIMIT_FAIL: 'closed' }, '/');
    expect(createEndpointLimits(config.rateLimits)('GET', '/api/v1/pipelines').limit).toEqual(windowOf(7));
    expect(config.rateLimitFail).toBe('closed');
  });

  it.each([
    [{ RATE_LIMIT_READ_PER_MINUTE: '0' }, /RATE_LIMIT_READ_PER_MINUTE: /],
    [{ RATE_LIMIT_FAIL: 'ajar' }, /RATE_LIMIT_FAIL: /],
    [{ TRUSTED_PROXIES: '10.0.0.0/8, proxy.example' }, /TRUSTED_PROXIES: must be IP addresses, CIDR ranges/],
    [{ TRUSTED_PROXIES: '10.0.0.0/99' }, /TRUSTED_PROXIES: /],
  ])('%j stops the start', (environment, sentence) => {
    expect(() => parseConfig(environment, '/')).toThrow(sentence);
  });
});
