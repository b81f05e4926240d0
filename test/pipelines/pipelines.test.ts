import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PipelineRevision } from '../../src/entities/pipelines/pipeline-revision.js';
import { Run } from '../../src/entities/runs/run.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type Call, caller } from '../support/rest.js';

const yamlDefinition = `apiVersion: v1
name: numbers
source: { id: numbers, type: inline, rows: [{ n: 1 }, { n: 2 }] }
target: { id: out, type: file, path: numbers.parquet, mode: OVERWRITE }
`;
const absent = '01a1fb3c-6ba4-7748-a964-b27f88c25ee9';

let app: TestApp;
let admin: Call;
let engineer: Call;
let viewer: Call;
let stranger: Call;

beforeAll(async () => {
  app = await startTestApp();
  const as = async (clientId: string) => caller(app.url, await app.platform(clientId));
  admin = await as('demo-admin');
  engineer = await as('demo-engineer');
  viewer = await as('demo-viewer');
  stranger = await as('demo-globex-engineer');
});

afterAll(() => app.close());

async function create(name = 'numbers'): Promise<string> {
  const { status, body } = await engineer('POST', '/api/v1/pipelines', { name, yamlDefinition });
  expect(status).toBe(201);
  return body.id;
}

describe('pipelines over REST', () => {
  it('are created as drafts of version 1 with the documented defaults', async () => {
    const { status, body } = await engineer('POST', '/api/v1/pipelines', {
      name: 'orders',
      yamlDefinition,
      description: 'Orders of the day',
      scheduleCron: '0 6 * * 1-5',
      tags: ['sales'],
      notifications: { onFailure: ['ops'] },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      workspaceId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'orders',
      description: 'Orders of the day',
      yamlDefinition,
      version: 1,
      status: 'DRAFT',
      lifecycleStage: 'DRAFT',
      scheduleCron: '0 6 * * 1-5',
      tags: ['sales'],
      sourceConnectionId: null,
      targetConnectionId: null,
      maxRetries: 3,
      retryDelaySeconds: 60,
      timeoutSeconds: 3600,
      notifications: { onFailure: ['ops'] },
      isActive: true,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: body.createdAt,
      createdBy: 'demo-engineer',
    });
  });

  it('may be created with a definition that does not validate yet', async () => {
    const { status } = await engineer('POST', '/api/v1/pipelines', {
      name: 'idea',
      yamlDefinition: 'later: {',
    });
    expect(status).toBe(201);
  });

  it.each([
    [{ yamlDefinition }, 'name'],
    [{ name: 'x' }, 'yamlDefinition'],
    [{ name: '  ', yamlDefinition }, 'name'],
    [{ name: 'x', yamlDefinition: '' }, 'yamlDefinition'],
    [{ name: 'x', yamlDefinition, scheduleCron: 'every day' }, 'scheduleCron'],
    [{ name: 'x', yamlDefinition, scheduleCron: '0 0 0 1 1 *' }, 'scheduleCron'],
    [{ name: 'x', yamlDefinition, maxRetries: -1 }, 'maxRetries'],
    [{ name: 'x', yamlDefinition, maxRetries: 'three' }, 'maxRetries'],
    [{ name: 'x', yamlDefinition, timeoutSeconds: 0 }, 'timeoutSeconds'],
    [{ name: 'x', yamlDefinition, sourceConnectionId: absent }, 'sourceConnectionId'],
    [{ name: 'x', yamlDefinition, sourceConnectionId: 'erp' }, 'sourceConnectionId'],
    [{ name: 'x', yamlDefinition, notifications: { onSucess: [] } }, 'notifications.onSucess'],
    [{ name: 'x\0', yamlDefinition }, 'name'],
    [{ name: 'x', yamlDefinition, tags: ['\ud800'] }, 'tags.0'],
    [{ name: 'x', yamlDefinition, colour: 'red' }, 'colour'],
  ])('refuse %j, naming %s', async (input, field) => {
    const { status, body } = await engineer('POST', '/api/v1/pipelines', input);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error: 'BAD_REQUEST',
      message: expect.any(String),
      timestamp: expect.any(String),
    });
    expect(body.details.map((problem: { field: string }) => problem.field)).toEqual([field]);
  });

  it('count a version and keep a revision with every PUT, whatever it changes', async () => {
    const id = await create();
    const first = await engineer('PUT', `/api/v1/pipelines/${id}`, { description: 'two' });
    expect(first.body).toMatchObject({ version: 2, description: 'two', name: 'numbers', status: 'DRAFT' });
    const second = await engineer('PUT', `/api/v1/pipelines/${id}`, {});
    expect(second.body).toMatchObject({ version: 3, description: 'two' });
    const third = await engineer('PUT', `/api/v1/pipelines/${id}`, {
      description: null,
      yamlDefinition: 'b: 1',
    });
    expect(third.body).toMatchObject({ version: 4, description: null });
    const em = app.services.orm.em.fork();
    const revisions = await em.find(
      PipelineRevision,
      { pipelineId: id },
      { filters: false, orderBy: { version: 1 } },
    );
    expect(revisions.map((revision) => [revision.version, revision.yamlDefinition, revision.author])).toEqual(
      [
        [1, yamlDefinition, 'demo-engineer'],
        [2, yamlDefinition, 'demo-engineer'],
        [3, yamlDefinition, 'demo-engineer'],
        [4, 'b: 1', 'demo-engineer'],
      ],
    );
  });

  it('take back what GET answered', async () => {
    const id = await create();
    const { body } = await engineer('GET', `/api/v1/pipelines/${id}`);
    const answer = await engineer('PUT', `/api/v1/pipelines/${id}`, body);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ ...body, version: 2, updatedAt: expect.any(String) });
  });

  it('lose no update when many come at once', async () => {
    const id = await create();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        engineer('PUT', `/api/v1/pipelines/${id}`, { description: `d${n}` }),
      ),
    );
    expect(answers.map(({ body }) => body.version).toSorted((a, b) => a - b)).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
    ]);
  });

  it('are listed newest first without their definitions, found by a part of the name, at most as many as asked', async () => {
    await create('Search me 100%');
    await create('search ME too');
    const { body } = await viewer('GET', '/api/v1/pipelines?search=search%20me');
    expect(body.map((pipeline: { name: string }) => pipeline.name)).toEqual([
      'search ME too',
      'Search me 100%',
    ]);
    expect(body[0]).not.toHaveProperty('yamlDefinition');
    expect((await viewer('GET', '/api/v1/pipelines?search=100%25')).body).toHaveLength(1);
    expect((await viewer('GET', '/api/v1/pipelines?search=search&limit=1')).body).toHaveLength(1);
    expect((await viewer('GET', '/api/v1/pipelines?search=%00')).status).toBe(400);
    for (const limit of ['0', '1001', 'many']) {
      expect((await viewer('GET', `/api/v1/pipelines?limit=${limit}`)).status).toBe(400);
    }
  });

  it('are deleted with their versions and runs', async () => {
    const id = await create();
    expect((await engineer('POST', `/api/v1/pipelines/${id}/run`)).status).toBe(202);
    const { status, body } = await admin('DELETE', `/api/v1/pipelines/${id}`);
    expect([status, body]).toEqual([204, undefined]);
    const em = app.services.orm.em.fork();
    expect(await em.count(PipelineRevision, { pipelineId: id }, { filters: false })).toBe(0);
    expect(await em.count(Run, { pipelineId: id }, { filters: false })).toBe(0);
    expect((await admin('GET', `/api/v1/pipelines/${id}`)).status).toBe(404);
    expect((await admin('DELETE', `/api/v1/pipelines/${id}`)).status).toBe(404);
  });
});

describe('who may do what', () => {
  it('follows the method rules: DELETE for ADMIN, writes for ADMIN and ENGINEER, GET for all', async () => {
    const id = await create();
    for (const clientId of ['demo-viewer', 'demo-analyst', 'demo-steward']) {
      const call = caller(app.url, await app.platform(clientId));
      expect((await call('GET', `/api/v1/pipelines/${id}`)).status).toBe(200);
      for (const [method, path] of [
        ['POST', '/api/v1/pipelines'],
        ['PUT', `/api/v1/pipelines/${id}`],
        ['POST', `/api/v1/pipelines/${id}/run`],
        ['DELETE', `/api/v1/pipelines/${id}`],
      ] as const) {
        const { status, body } = await call(method, path, { name: 'x', yamlDefinition });
        expect([status, body.error]).toEqual([403, 'FORBIDDEN']);
      }
    }
    expect((await engineer('DELETE', `/api/v1/pipelines/${id}`)).body.error).toBe('FORBIDDEN');
    expect((await admin('DELETE', `/api/v1/pipelines/${id}`)).status).toBe(204);
  });

  it('is the same over GraphQL', async () => {
    const id = await create();
    const remove = { query: 'mutation ($id: UUID!) { deletePipeline(id: $id) }', variables: { id } };
    const refused = await engineer('POST', '/graphql', remove);
    expect(refused.body.errors[0].extensions.code).toBe('AUTHORIZATION_ERROR');
    expect((await admin('POST', '/graphql', remove)).body).toEqual({ data: { deletePipeline: true } });
  });

  it('is 401 without a token or with a broken one', async () => {
    const nobody = await caller(app.url)('GET', '/api/v1/pipelines');
    expect([nobody.status, nobody.body.error]).toEqual([401, 'UNAUTHORIZED']);
    const broken = await caller(app.url, { authorization: 'Bearer a.b.c' })('GET', '/api/v1/pipelines');
    expect([broken.status, broken.body.error]).toEqual([401, 'UNAUTHORIZED']);
    const itsm = await caller(app.url, await app.itsm('admin@acme.test'))('GET', '/api/v1/pipelines');
    expect([itsm.status, itsm.body.error]).toEqual([401, 'UNAUTHORIZED']);
  });

  it("hides another organization's pipelines and refuses another workspace", async () => {
    const id = await create();
    const calls = [
      ['GET', `/api/v1/pipelines/${id}`],
      ['PUT', `/api/v1/pipelines/${id}`],
      ['POST', `/api/v1/pipelines/${id}/run`],
    ] as const;
    for (const [method, path] of calls) {
      const { status, body } = await stranger(method, path, method === 'GET' ? undefined : {});
      expect([status, body.error]).toEqual([404, 'NOT_FOUND']);
    }
    expect((await stranger('GET', '/api/v1/pipelines')).body).toEqual([]);
    const { body } = await engineer('GET', `/api/v1/pipelines/${id}`);
    const other = await stranger('GET', `/api/v1/pipelines?workspaceId=${body.workspaceId}`);
    expect([other.status, other.body.error]).toEqual([403, 'FORBIDDEN']);
  });
});
