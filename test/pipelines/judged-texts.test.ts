import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { type Call, caller } from '../support/rest.js';

const EXAMPLES = new URL('../../examples/', import.meta.url);

let app: TestApp;
let engineer: Call;

beforeAll(async () => {
  app = await startTestApp();
  engineer = caller(app.url, await app.platform('demo-engineer'));
});

afterAll(() => app.close());

describe('a definition', () => {
  it('that could never run is told by the parsers that would read it, together with the rest', async () => {
    const { status, body } = await engineer('POST', '/api/v1/pipelines/validate', {
      yamlDefinition: `apiVersion: v1
name: never
source: { id: numbers, type: inline, rows: [{ n: 1 }], extra: 1 }
transformations:
  - { id: a, type: sql, sql: SELEC nonsense }
  - { id: b, type: sql, sql: SELECT * FROM nowhere }
  - id: c
    type: javascript
    code: |
      function transform(row) {
quality: [{ on: a, type: regex, column: n, pattern: "(" }]
target: { id: out, type: file, path: numbers.parquet }
`,
    });
    expect(status).toBe(200);
    const told = body.errors.map((error: Record<string, unknown>) =>
      [error['line'], error['column'], error['path'], error['message']].join(' '),
    );
    expect(told).toEqual([
      '3 56 source.extra Unknown key "extra".',
      '5 30 transformations[0].sql SQL: syntax error at or near "SELEC" (line 1, column 1 of the SQL)',
      '6 30 transformations[1].sql "nowhere" is not an input of this transformation (inputs: a) (line 1, column 15 of the SQL)',
      expect.stringMatching(/^9 11 transformations\[2\]\.code SyntaxError in line 2: /),
      '11 53 quality[0].pattern RE2 cannot read the pattern: missing ): (',
    ]);
  });

  it.each(readdirSync(EXAMPLES).filter((name) => name.endsWith('.yaml')))(
    'of the examples is good by those parsers as well: %s',
    async (name) => {
      const example = readFileSync(new URL(name, EXAMPLES), 'utf8');
      const { body } = await engineer('POST', '/api/v1/pipelines/validate', { yamlDefinition: example });
      expect([body.valid, body.errors]).toEqual([true, []]);
    },
  );
});
