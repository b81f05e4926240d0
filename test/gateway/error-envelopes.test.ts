import { afterEach, describe, expect, it } from '@jest/globals';
import type { FailureCase } from './failure-case.js';
import { NOW, startGateway, type TestGateway } from './gateway-server.js';
import { REFUSALS_AND_OUTAGES } from './refusals-and-outages.js';
import { WRONG_REQUESTS } from './wrong-requests.js';

let gateway: TestGateway;
afterEach(() => gateway.close());

async function ask({ send = {}, resolve, context }: FailureCase, prefix: string): Promise<Response> {
  gateway = await startGateway({ ...(resolve && { resolve }), ...(context && { context }) });
  const { path = '/items/itm_1', ...init } = send;
  return fetch(`${gateway.url}${prefix}${path}`, init);
}

describe.each([...WRONG_REQUESTS, ...REFUSALS_AND_OUTAGES])('$name', (failure) => {
  it('is an ITSM envelope below /v1', async () => {
    const response = await ask(failure, '/v1');
    const { status = failure.status, ...error } = failure.itsm;
    expect(await response.json()).toStrictEqual({
      success: false,
      error: {
        ...error,
        requestId: response.headers.get('x-request-id'),
        timestamp: NOW.toISOString(),
        path: new URL(response.url).pathname,
      },
    });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(Object.fromEntries(response.headers)).toMatchObject(failure.headers ?? {});
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/);
  });

  it('is a platform body below /api/v1', async () => {
    const response = await ask(failure, '/api/v1');
    expect(await response.json()).toStrictEqual({ ...failure.platform, timestamp: NOW.toISOString() });
    expect(response.status).toBe(failure.status);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(Object.fromEntries(response.headers)).toMatchObject(failure.headers ?? {});
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});
