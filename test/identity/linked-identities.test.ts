import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { startTestApp, type TestApp } from '../support/app.js';
import { type Call, caller } from '../support/rest.js';

const BOTH_SIDES = '{ tickets { data { id } } pipelines { id } }';

let app: TestApp;
let agent: Record<string, string>;
let engineer: Record<string, string>;
let asAgent: Call;
let linkId: string;

beforeAll(async () => {
  app = await startTestApp();
  agent = await app.itsm('agent@acme.test');
  engineer = await app.platform('demo-engineer');
  asAgent = caller(app.url, agent);
});

afterAll(() => app.close());

const tokenOf = ({ authorization }: Record<string, string>) => `${authorization}`.slice('Bearer '.length);

const link = (by: Call, platform: Record<string, string>) =>
  by('POST', '/v1/auth/identities/link', { platformToken: tokenOf(platform) });

function both(first: Record<string, string>, second: Record<string, string>) {
  const headers = { ...first, 'x-linked-authorization': `${second['authorization']}` };
  return caller(app.url, headers)('POST', '/graphql', { query: BOTH_SIDES });
}

function refused(
  answer: { status: number; body: { error: { code: string } } },
  status: number,
  code: string,
) {
  expect({ status: answer.status, code: answer.body.error?.code }).toEqual({ status, code });
}

describe('before there is a link', () => {
  it('two good tokens are refused together, and each sees its own side alone', async () => {
    for (const answer of [await both(agent, engineer), await both(engineer, agent)]) {
      expect(answer.status).toBe(403);
      expect(answer.body.errors[0].extensions.code).toBe('AUTHORIZATION_ERROR');
    }
    const alone = await asAgent('POST', '/graphql', { query: BOTH_SIDES });
    expect(alone.body.errors[0].extensions.code).toBe('AUTHENTICATION_ERROR');
  });
});

describe('a link', () => {
  it('needs both tokens, of one organization', async () => {
    refused(await link(asAgent, { authorization: 'Bearer nonsense' }), 401, 'TOKEN_INVALID');
    refused(await link(asAgent, agent), 401, 'TOKEN_INVALID');
    refused(await link(asAgent, await app.platform('demo-globex-engineer')), 403, 'AUTHORIZATION_ERROR');
    refused(await link(caller(app.url, engineer), engineer), 401, 'TOKEN_INVALID');
    const admin = caller(app.url, await app.itsm('admin@acme.test'));
    const { body } = await admin('POST', '/v1/api-keys', {
      name: 'x',
      permissions: ['sessions:manage:own'],
    });
    const key = caller(app.url, { 'x-api-key': body.key });
    refused(await link(key, engineer), 403, 'AUTHORIZATION_ERROR');
  });

  it('is made once, however many try, and belongs to one user', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => link(asAgent, engineer)));
    for (const { status } of answers) expect([201, 409]).toContain(status);
    const again = await link(asAgent, engineer);
    expect(again.body).toEqual({
      id: expect.stringMatching(/^idn_/),
      issuer: 'urn:opsgraph:oidc',
      subject: 'demo-engineer',
      createdAt: expect.any(String),
    });
    linkId = again.body.id;
    expect((await asAgent('GET', '/v1/auth/identities')).body.data).toEqual([again.body]);
    const user = caller(app.url, await app.itsm('user@acme.test'));
    refused(await link(user, engineer), 409, 'CONFLICT');
    expect((await user('GET', '/v1/auth/identities')).body.data).toEqual([]);
    refused(await user('DELETE', `/v1/auth/identities/${linkId}`), 404, 'NOT_FOUND');
  });

  it('lets one GraphQL request see both sides, whichever token comes first', async () => {
    for (const answer of [await both(agent, engineer), await both(engineer, agent)]) {
      expect(answer.body.errors).toBeUndefined();
      expect(answer.body.data).toEqual({ tickets: expect.anything(), pipelines: expect.anything() });
    }
  });

  it('grants nothing to one token alone, to two of one side, to another user or to a bad second one', async () => {
    const one = await caller(app.url, engineer)('POST', '/graphql', { query: BOTH_SIDES });
    expect(one.body.errors[0].extensions.code).toBe('AUTHENTICATION_ERROR');
    const codes: unknown[] = [];
    for (const [first, second] of [
      [agent, agent],
      [engineer, engineer],
      [agent, { authorization: 'Bearer x.y.z' }],
      [agent, { authorization: 'nonsense' }],
      [await app.itsm('user@acme.test'), engineer],
      [agent, await app.platform('demo-viewer')],
      [await app.itsm('agent@globex.test'), engineer],
    ] as const)
      codes.push((await both(first, second)).body.errors[0].extensions.code);
    expect(codes).toEqual([...Array(4).fill('TOKEN_INVALID'), ...Array(3).fill('AUTHORIZATION_ERROR')]);
    const lonely = await caller(app.url, { 'x-linked-authorization': `${engineer['authorization']}` })(
      'POST',
      '/graphql',
      { query: '{ pipelines { id } }' },
    );
    expect(lonely.status).toBe(401);
  });

  it('changes nothing at /v1 and /api/v1, which demand their own token', async () => {
    const withBoth = (first: Record<string, string>, second: Record<string, string>) =>
      caller(app.url, { ...first, 'x-linked-authorization': `${second['authorization']}` });
    expect((await withBoth(agent, engineer)('GET', '/v1/tickets')).status).toBe(200);
    expect((await withBoth(agent, engineer)('GET', '/api/v1/pipelines')).status).toBe(401);
    expect((await withBoth(engineer, agent)('GET', '/api/v1/pipelines')).status).toBe(200);
    expect((await withBoth(engineer, agent)('GET', '/v1/tickets')).status).toBe(401);
  });

  it('holds over WebSocket too', async () => {
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await once(socket, 'open');
    const payload = {
      Authorization: agent['authorization'],
      'X-Linked-Authorization': engineer['authorization'],
    };
    socket.send(JSON.stringify({ type: 'connection_init', payload }));
    await once(socket, 'message');
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: BOTH_SIDES } }));
    const [data] = await once(socket, 'message');
    expect(JSON.parse(String(data))).toMatchObject({
      type: 'next',
      payload: { data: { tickets: expect.anything(), pipelines: expect.anything() } },
    });
    socket.terminate();
  });

  it('ends with the session of either side, and when it is undone', async () => {
    const second = await app.itsm('agent@acme.test');
    const { body } = await caller(app.url, second)('GET', '/v1/auth/sessions');
    const { sessionId } = body.data.find(({ current }: { current: boolean }) => current);
    expect((await asAgent('DELETE', `/v1/auth/sessions/${sessionId}`)).status).toBe(204);
    expect((await both(engineer, second)).body.errors[0].extensions.code).toBe('TOKEN_INVALID');
    expect((await asAgent('DELETE', `/v1/auth/identities/${linkId}`)).status).toBe(204);
    expect((await both(agent, engineer)).status).toBe(403);
    refused(await asAgent('DELETE', `/v1/auth/identities/${linkId}`), 404, 'NOT_FOUND');
  });
});
