import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { type OpenApi, type OpenApiOperation, sampleBody } from './sample-body.js';

/** Every operation of the documents, so of the tables: what no client may get wrong into a 500 or a foreign envelope. */
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const documents = await Promise.all(
  ['itsm', 'platform'].map(async (name) => {
    const text = await readFile(new URL(`../../schema/openapi/${name}.json`, import.meta.url), 'utf8');
    return { surface: name as Surface, document: JSON.parse(text) as OpenApi };
  }),
);
type Surface = 'itsm' | 'platform';
type Case = [string, { surface: Surface; document: OpenApi; path: string; operation: OpenApiOperation }];

const paths = documents.flatMap(({ surface, document }) =>
  Object.entries(document.paths).map(([path, operations]) => ({ surface, document, path, operations })),
);
const cases = paths.flatMap(({ operations, ...rest }) =>
  Object.entries(operations)
    .filter(([method]) => METHODS.includes(method))
    .map(([method, operation]): Case => [`${method.toUpperCase()} ${rest.path}`, { ...rest, operation }]),
);

let app: TestApp;
let credential: Record<Surface, Record<string, string>>;

beforeAll(async () => {
  app = await startTestApp();
  credential = { itsm: {}, platform: await app.platform('demo-admin') };
});
afterAll(() => app.close());

/** Some of the operations end the caller's sessions. */
beforeEach(async () => {
  const { status } = await fetch(`${app.url}/v1/users/me`, { headers: credential.itsm });
  if (status !== 200) credential.itsm = await app.itsm('admin@acme.test');
});

async function send(
  surface: Surface,
  method: string,
  path: string,
  more: { body?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; headers: Headers }> {
  const headers = { ...credential[surface], ...more.headers };
  const response = await fetch(app.url + path, { ...more, method, headers });
  const text = await response.text();
  if (response.status >= 400) expectEnvelope(surface, response, JSON.parse(text));
  return response;
}

function expectEnvelope(surface: Surface, { status, headers, url }: Response, body: unknown): void {
  expect(status).toBeLessThan(500);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const message = expect.any(String);
  if (surface === 'itsm')
    expect(body).toEqual({
      success: false,
      error: {
        code: expect.stringMatching(/^[A-Z_]+$/),
        message,
        details: (body as { error: { details: unknown } }).error.details,
        requestId: headers.get('x-request-id'),
        timestamp,
        path: new URL(url).pathname,
      },
    });
  else expect(body).toMatchObject({ error: expect.stringMatching(/^[A-Z_]+$/), message, timestamp });
}

const placed = (path: string, value: string) => path.replace(/\{[^}]+\}/g, value);
const UNKNOWN_ID = '01a1fb8c-8434-77f2-b22c-336e331aac97';

/** RFC 7009 section 2.2: a token that is none is as good as revoked. */
const REVOKE = 'POST /v1/auth/tokens/revoke';

describe.each(paths.map((one): [string, (typeof paths)[number]] => [one.path, one]))('%s', (_name, one) => {
  const path = placed(one.path, UNKNOWN_ID);
  const methods = Object.keys(one.operations).map((method) => method.toUpperCase());

  it('says what it answers to, and refuses the rest', async () => {
    const options = await send(one.surface, 'OPTIONS', path);
    expect(options.status).toBe(204);
    const allow = options.headers.get('allow') ?? '';
    expect(allow.split(', ')).toEqual(expect.arrayContaining([...methods, 'OPTIONS']));
    const refused = await send(one.surface, 'PROPFIND', path);
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, allow]);
  });
});

describe.each(cases)('%s', (name, { surface, document, path, operation }) => {
  const method = name.split(' ')[0] ?? '';
  const content = operation.requestBody?.content['application/json'];
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');

  it.each(['a%00b', '%FF', '%ED%A0%80', '..%2F', "'", 'x'.repeat(3_000)])(
    'refuses %s as an id and in every query parameter',
    async (value) => {
      if (path.includes('{')) {
        const { status } = await send(surface, method, placed(path, value));
        expect([400, 404]).toContain(status);
      }
      for (const parameter of query)
        await send(surface, method, `${placed(path, UNKNOWN_ID)}?${parameter.name}=${value}`);
    },
  );

  if (!content) return;
  const json = { 'content-type': 'application/json' };

  it.each(['a\u0000b', '\u0000', 'a\ud800b'])(
    'refuses the text %j, which PostgreSQL could not keep',
    async (text) => {
      const body = JSON.stringify(sampleBody(document, content.schema, text));
      if (!body.includes(JSON.stringify(text).slice(1, -1))) return;
      const { status } = await send(surface, method, placed(path, UNKNOWN_ID), { headers: json, body });
      expect(name === REVOKE ? [200] : [400, 401, 404]).toContain(status);
    },
  );

  it.each(['{"a":', '"text"', '[]', '7', '\ufeff[', '{"__proto__":{"polluted":1},"constructor":1}'])(
    'refuses the body %j',
    async (body) => {
      const { status } = await send(surface, method, placed(path, UNKNOWN_ID), { headers: json, body });
      expect([400, 404]).toContain(status);
    },
  );

  it('refuses a body that is no JSON by its type, whatever is in it', async () => {
    const headers = { 'content-type': 'text/xml' };
    const { status } = await send(surface, method, placed(path, UNKNOWN_ID), { headers, body: '{}' });
    expect(status).toBe(415);
  });
});
