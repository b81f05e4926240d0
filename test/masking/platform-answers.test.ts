import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { platformTables } from '../../src/rest/tables.js';
import { watch } from '../runs/watched-run.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type Call, caller } from '../support/rest.js';

const mail = 'jan.kowalski@example.com';
const yamlDefinition = `apiVersion: v1
name: people # of ${mail}
source: { id: people, type: inline, rows: [{ contact: "${mail}", order: 44051401359 }] }
transformations: [{ id: broken, type: sql, inputs: [people], sql: "SELECT CAST(contact AS INTEGER) AS n FROM people" }]
target: { id: out, type: file, path: people.parquet, mode: OVERWRITE }
`;
const pipeline = {
  name: `people ${mail}`,
  description: 'Call +48 601 234 567, account PL61109010140000071219812874',
  yamlDefinition,
  tags: ['44051401359', 'plain'],
  notifications: { onFailure: [mail] },
};

/** What to create, full of personal data, for each resource that has a PUT: a new one fails here until it is added. */
let lakes = 0;
const writable: Readonly<Record<string, () => object>> = {
  '/api/v1/pipelines/:id': () => pipeline,
  // Names of connections are unique in their workspace.
  '/api/v1/connections/:id': () => ({
    name: `lake ${++lakes} of ${mail}`,
    type: 'file',
    config: { storage: 'local', root: mail },
  }),
};

let app: TestApp;
let engineer: Call;
let viewer: Call;

beforeAll(async () => {
  app = await startTestApp();
  engineer = caller(app.url, await app.platform('demo-engineer'));
  viewer = caller(app.url, await app.platform('demo-viewer'));
});

afterAll(() => app.close());

async function create(path: string, body: object): Promise<string> {
  const created = await engineer('POST', path, body);
  expect(created.status).toBe(201);
  return created.body.id;
}

const putPaths = platformTables
  .flatMap(({ rows }) => rows.map(({ method, path }) => ({ method: String(method), path: String(path) })))
  .filter(({ method }) => method === 'PUT')
  .map(({ path }) => path);

describe('GET -> PUT', () => {
  it.each(putPaths)('%s changes nothing for who may write', async (path) => {
    const body = writable[path]?.();
    if (!body) throw new Error(`Say in this test what a resource of ${path} looks like`);
    const collection = path.slice(0, path.lastIndexOf('/:'));
    const own = `${collection}/${await create(collection, body)}`;
    const before = await engineer('GET', own);
    expect(before.body).toMatchObject(body);
    const put = await engineer('PUT', own, before.body);
    expect(put.status).toBe(200);
    const after = await engineer('GET', own);
    expect({ ...after.body, version: 0, updatedAt: '' }).toEqual({
      ...before.body,
      version: 0,
      updatedAt: '',
    });
  });

  it.each(putPaths)('%s refuses what a reader saw', async (path) => {
    const collection = path.slice(0, path.lastIndexOf('/:'));
    const fields = writable[path]?.() ?? {};
    const own = `${collection}/${await create(collection, fields)}`;
    const seen = await viewer('GET', own);
    const { status, body } = await engineer('PUT', own, seen.body);
    expect(status).toBe(400);
    expect(body.error).toBe('BAD_REQUEST');
    expect(Object.keys(fields)).toContain(body.details[0].field);
    expect(body.message).toContain('holds the mask');
  });
});

describe('configuration', () => {
  it('is masked for a reader, in the list as well, and ids, numbers and times are not', async () => {
    const id = await create('/api/v1/pipelines', pipeline);
    const own = await engineer('GET', `/api/v1/pipelines/${id}`);
    const seen = await viewer('GET', `/api/v1/pipelines/${id}`);
    expect(seen.body).toEqual({
      ...own.body,
      name: 'people •••',
      description: 'Call •••, account •••',
      yamlDefinition: yamlDefinition.replaceAll(mail, '•••').replace('44051401359', '•••'),
      tags: ['•••', 'plain'],
      notifications: { onFailure: ['•••'] },
    });
    const list = await viewer('GET', '/api/v1/pipelines');
    expect(JSON.stringify(list.body)).not.toContain(mail);
    expect(list.body.find((item: { id: string }) => item.id === id).name).toBe('people •••');
  });

  it('is masked over GraphQL alike', async () => {
    const id = await create('/api/v1/pipelines', pipeline);
    const query = { query: `{ pipeline(id: "${id}") { name notifications } }` };
    expect((await viewer('POST', '/graphql', query)).body.data.pipeline).toEqual({
      name: 'people •••',
      notifications: { onFailure: ['•••'] },
    });
    expect((await engineer('POST', '/graphql', query)).body.data.pipeline).toEqual({
      name: pipeline.name,
      notifications: pipeline.notifications,
    });
  });

  it('is not written with the mask in it, over REST and over GraphQL', async () => {
    const rest = await engineer('POST', '/api/v1/pipelines', {
      ...pipeline,
      notifications: { onFailure: ['ops', '•••'] },
    });
    expect(rest.status).toBe(400);
    expect(rest.body.details).toEqual([expect.objectContaining({ field: 'notifications.onFailure.1' })]);
    const graph = await engineer('POST', '/graphql', {
      query: 'mutation ($input: CreatePipelineInput!) { createPipeline(input: $input) { id } }',
      variables: { input: { name: 'x •••', yamlDefinition } },
    });
    expect(graph.body.errors[0].extensions).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'name' },
    });
  });

  it('is not quoted in errors', async () => {
    const unknownField = await engineer('POST', '/api/v1/pipelines', { ...pipeline, [mail]: 1 });
    expect(unknownField.status).toBe(400);
    const unknownPath = await engineer('GET', `/api/v1/people/${mail}`);
    expect(unknownPath.status).toBe(404);
    for (const { body } of [unknownField, unknownPath]) {
      expect(JSON.stringify(body)).toContain('•••');
      expect(JSON.stringify(body)).not.toContain(mail);
    }
  });
});

describe('a run', () => {
  it('shows log lines and errors masked to everyone: polled, over the run WebSocket and as a subscription', async () => {
    const id = await create('/api/v1/pipelines', { ...pipeline, maxRetries: 0 });
    const started = await engineer('POST', `/api/v1/pipelines/${id}/run`, { triggeredBy: mail });
    expect(started.status).toBe(202);
    const { runId } = started.body;
    const credential = await app.platform('demo-engineer');

    const { messages, closed } = watch(app.url, runId, { after: 0, credential });
    await closed;

    const client = createClient({
      url: `${app.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: credential,
    });
    const subscribed: string[] = [];
    const query = `subscription { runUpdates(runId: "${runId}", after: 0) { type error message } }`;
    for await (const result of client.iterate({ query })) subscribed.push(JSON.stringify(result.data));
    await client.dispose();

    const polled = await engineer('GET', `/api/v1/runs/${runId}`);
    expect(polled.body).toMatchObject({ overallStatus: 'FAILED', triggeredBy: '•••' });
    for (const text of [JSON.stringify(polled.body), JSON.stringify(messages), subscribed.join()]) {
      expect(text).not.toContain(mail);
      expect(text).toMatch(/convert.*•••|•••.*convert/i);
    }
  });
});

describe('/v1', () => {
  it('is never masked', async () => {
    const agent = caller(app.url, await app.itsm('agent@acme.test'));
    const title = `Reset ${mail}, PESEL 44051401359`;
    const created = await agent('POST', '/v1/tickets', { title, description: 'a •••' });
    expect(created.status).toBe(201);
    expect((await agent('GET', `/v1/tickets/${created.body.id}`)).body).toMatchObject({
      title,
      description: 'a •••',
    });
  });
});
