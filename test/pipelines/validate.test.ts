import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Pipeline } from '../../src/entities/pipelines/pipeline.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type Call, caller } from '../support/rest.js';

const yamlDefinition = `apiVersion: v1
name: numbers
timeout: PT1M
parameters: [{ id: least, type: INTEGER, default: 1 }]
source: { id: numbers, type: inline, rows: [{ n: 1 }, { n: 2 }] }
transformations: { id: kept, type: filter, where: "n >= {{ params.least }}" }
target: { id: out, type: file, path: numbers.parquet, mode: OVERWRITE }
`;
const broken = `apiVersion: v1
name: numbers
source: { id: numbers, type: inline }
transformations: { id: kept, type: filter, where: "n >= {{ params.least }}" }
target: { id: out, type: file, path: numbers.parquet, mode: UPSERT }
`;
const absent = '01a1fb3c-6ba4-7748-a964-b27f88c25ee9';

let app: TestApp;
let engineer: Call;
let viewer: Call;
let stranger: Call;

beforeAll(async () => {
  app = await startTestApp({ PIPELINE_ENV_ALLOWED: 'REGION, UNSET', REGION: 'eu', SECRET: 'x' });
  const as = async (clientId: string) => caller(app.url, await app.platform(clientId));
  engineer = await as('demo-engineer');
  viewer = await as('demo-viewer');
  stranger = await as('demo-globex-engineer');
});

afterAll(() => app.close());

async function create(definition = yamlDefinition): Promise<string> {
  const { body } = await engineer('POST', '/api/v1/pipelines', { name: 'n', yamlDefinition: definition });
  return body.id;
}

/** There is no schedule yet that would move a pipeline there. */
async function putAt(id: string, lifecycleStage: Pipeline['lifecycleStage']): Promise<void> {
  const em = app.services.orm.em.fork();
  await em.nativeUpdate(Pipeline, { id }, { lifecycleStage }, { filters: false });
}

describe('a definition', () => {
  it('has a published schema, for every role and over GraphQL too', async () => {
    const schema = JSON.parse(
      readFileSync(new URL('../../schema/pipeline.schema.json', import.meta.url), 'utf8'),
    );
    expect(await viewer('GET', '/api/v1/pipelines/schema')).toMatchObject({ status: 200, body: schema });
    const { body } = await viewer('POST', '/graphql', { query: '{ pipelineSchema }' });
    expect(body).toEqual({ data: { pipelineSchema: schema } });
  });

  it('that is good is reported with engine, tasks and warnings', async () => {
    const { status, body } = await engineer('POST', '/api/v1/pipelines/validate', {
      yamlDefinition: yamlDefinition.replace('timeout: PT1M\n', ''),
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      valid: true,
      errors: [],
      warnings: [
        {
          rule: 'no-timeout',
          line: 1,
          column: 1,
          path: '',
          message: 'Neither the definition nor all its tasks have a "timeout".',
        },
      ],
      engine: 'BATCH',
      taskCount: 3,
      tasks: [
        { id: 'numbers', kind: 'source', type: 'inline', inputs: [], dependsOn: [], level: 0 },
        {
          id: 'kept',
          kind: 'transformation',
          type: 'filter',
          inputs: ['numbers'],
          dependsOn: ['numbers'],
          level: 1,
        },
        { id: 'out', kind: 'target', type: 'file', inputs: ['kept'], dependsOn: ['kept'], level: 2 },
      ],
    });
  });

  const errors = [
    { line: 3, column: 9, path: 'source', message: '"rows" is missing.' },
    {
      line: 4,
      column: 57,
      path: 'transformations.where',
      message: '{{ params.least }}: there is no parameter "least".',
    },
    {
      line: 5,
      column: 61,
      path: 'target.mode',
      message: 'mode cannot be "UPSERT": it must be one of OVERWRITE, APPEND.',
    },
  ];

  it('that is not is answered with everything that is wrong, each at its line and column', async () => {
    const { status, body } = await engineer('POST', '/api/v1/pipelines/validate', { yamlDefinition: broken });
    expect(status).toBe(200);
    expect(body).toEqual({ valid: false, errors, warnings: [], engine: null, taskCount: null, tasks: null });
    const graphql = await engineer('POST', '/graphql', {
      query:
        'query ($input: ValidateDefinitionInput!) { validateDefinition(input: $input) { valid errors { line column path message } } }',
      variables: { input: { yamlDefinition: broken } },
    });
    expect(graphql.body).toEqual({ data: { validateDefinition: { valid: false, errors } } });
  });

  it.each([
    [{}, 'yamlDefinition'],
    [{ yamlDefinition: '' }, 'yamlDefinition'],
    [{ yamlDefinition, name: 'x' }, 'name'],
  ])('is refused as a request when it is none (%#)', async (input, field) => {
    const { status, body } = await engineer('POST', '/api/v1/pipelines/validate', input);
    expect([status, body.error, body.details[0].field]).toEqual([400, 'BAD_REQUEST', field]);
  });

  it('is judged with the variables and connections there are', async () => {
    const judged = async (name: string) => {
      const definition = yamlDefinition
        .replace('[{ n: 1 }, { n: 2 }]', `[{ n: "{{ env.${name} }}" }]`)
        .replace('type: file', 'type: file, connection: nosuch');
      return (await engineer('POST', '/api/v1/pipelines/validate', { yamlDefinition: definition })).body;
    };
    expect(await judged('REGION')).toMatchObject({
      valid: true,
      warnings: [{ rule: 'unknown-connection', line: 7, column: 44, path: 'target.connection' }],
    });
    for (const name of ['UNSET', 'SECRET']) {
      expect((await judged(name)).errors).toEqual([
        {
          line: 5,
          column: 51,
          path: 'source.rows[0].n',
          message: `{{ env.${name} }}: the variable ${name} is not set, or PIPELINE_ENV_ALLOWED does not name it.`,
        },
      ]);
    }
  });

  it('is judged for who may write', async () => {
    const { status, body } = await viewer('POST', '/api/v1/pipelines/validate', { yamlDefinition });
    expect([status, body.error]).toEqual([403, 'FORBIDDEN']);
  });
});

describe('a pipeline', () => {
  it('that validates is VALIDATED until its definition is another one', async () => {
    const id = await create();
    const { status, body } = await engineer('POST', `/api/v1/pipelines/${id}/validate`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      valid: true,
      version: 1,
      lifecycleStage: 'VALIDATED',
      engine: 'BATCH',
      taskCount: 3,
    });
    const stage = async () => (await viewer('GET', `/api/v1/pipelines/${id}`)).body.lifecycleStage;
    expect(await stage()).toBe('VALIDATED');
    await engineer('PUT', `/api/v1/pipelines/${id}`, { description: 'x', yamlDefinition });
    expect(await stage()).toBe('VALIDATED');
    await engineer('PUT', `/api/v1/pipelines/${id}`, { yamlDefinition: broken });
    expect(await stage()).toBe('DRAFT');
  });

  it('that does not answers 400 with all errors and stays a draft', async () => {
    const id = await create(broken);
    const { status, body } = await engineer('POST', `/api/v1/pipelines/${id}/validate`);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error: 'BAD_REQUEST',
      details: [
        { field: 'yamlDefinition.source', message: 'line 3, column 9: "rows" is missing.' },
        {
          field: 'yamlDefinition.transformations.where',
          message: expect.stringContaining('line 4, column 57: '),
        },
        { field: 'yamlDefinition.target.mode', message: expect.stringContaining('line 5, column 61: ') },
      ],
    });
    expect((await viewer('GET', `/api/v1/pipelines/${id}`)).body.lifecycleStage).toBe('DRAFT');
  });

  it('goes from ACTIVE to DEPRECATED to RETIRED and no other way', async () => {
    const id = await create();
    const move = (to: string) => engineer('POST', `/api/v1/pipelines/${id}/${to}`);
    for (const stage of ['DRAFT', 'VALIDATED', 'SCHEDULED', 'DEPRECATED', 'RETIRED'] as const) {
      await putAt(id, stage);
      const { status, body } = await move('deprecate');
      expect([status, body.error, body.lifecycleStage]).toEqual([409, 'CONFLICT', stage]);
    }
    for (const stage of ['DRAFT', 'VALIDATED', 'SCHEDULED', 'ACTIVE', 'RETIRED'] as const) {
      await putAt(id, stage);
      const { status, body } = await move('retire');
      expect([status, body.error, body.required]).toEqual([409, 'CONFLICT', 'DEPRECATED']);
    }
    await putAt(id, 'ACTIVE');
    expect(await move('validate')).toMatchObject({ status: 200, body: { lifecycleStage: 'ACTIVE' } });
    expect(await move('deprecate')).toMatchObject({
      status: 200,
      body: { id, lifecycleStage: 'DEPRECATED' },
    });
    expect(await move('retire')).toMatchObject({
      status: 200,
      body: { id, lifecycleStage: 'RETIRED', version: 1 },
    });
  });

  it('keeps its revisions, newest first, page by page', async () => {
    const id = await create();
    for (const description of ['b', 'c']) await engineer('PUT', `/api/v1/pipelines/${id}`, { description });
    await engineer('PUT', `/api/v1/pipelines/${id}`, { yamlDefinition: broken });
    const list = async (query: string) => {
      const { body } = await viewer('GET', `/api/v1/pipelines/${id}/revisions${query}`);
      return body.map(({ version }: { version: number }) => version);
    };
    expect(await list('')).toEqual([4, 3, 2, 1]);
    expect(await list('?limit=2')).toEqual([4, 3]);
    expect(await list('?limit=2&before=3')).toEqual([2, 1]);
    const { body } = await viewer('GET', `/api/v1/pipelines/${id}/revisions`);
    expect(body[3]).toEqual({
      pipelineId: id,
      version: 1,
      author: 'demo-engineer',
      message: 'Create',
      createdAt: expect.any(String),
    });
    expect(await viewer('GET', `/api/v1/pipelines/${id}/revisions/3`)).toMatchObject({
      status: 200,
      body: { version: 3, yamlDefinition },
    });
    expect((await viewer('GET', `/api/v1/pipelines/${id}/revisions/5`)).status).toBe(404);
    expect((await viewer('GET', `/api/v1/pipelines/${id}/revisions?limit=1001`)).status).toBe(400);
  });

  it('is out of reach for strangers and absent when it is not there', async () => {
    const id = await create();
    for (const [method, path] of [
      ['POST', 'validate'],
      ['POST', 'deprecate'],
      ['POST', 'retire'],
      ['GET', 'revisions'],
      ['GET', 'revisions/1'],
    ] as const) {
      expect((await stranger(method, `/api/v1/pipelines/${id}/${path}`)).status).toBe(404);
      expect((await engineer(method, `/api/v1/pipelines/${absent}/${path}`)).status).toBe(404);
      if (method === 'POST') {
        expect((await viewer(method, `/api/v1/pipelines/${id}/${path}`)).status).toBe(403);
      }
    }
  });
});
