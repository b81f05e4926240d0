import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { parseDefinition, pipelineSchema } from '../../../../src/domain/pipelines/definition/index.js';
import { compileDefinition } from '../../../../src/domain/pipelines/index.js';
import { HEAD, SMALL } from './definitions.js';

const EXAMPLES = new URL('../../../../examples/', import.meta.url);
const examples = readdirSync(EXAMPLES)
  .filter((name) => name.endsWith('.yaml'))
  .map((name): [string, string] => [name, readFileSync(new URL(name, EXAMPLES), 'utf8')]);

const connections = new Map([
  ['warehouse', 'postgres'],
  ['shop', 'postgres'],
  ['api', 'http'],
  ['inventory', 'mysql'],
]);
const values = {
  params: {},
  builtIns: {
    'run.id': '01a1fb3c-6ba4-7748-a964-b27f88c25ee9',
    'run.startedAt': '2026-11-21T06:00:00.000Z',
    'schedule.date': '2026-11-21',
    'pipeline.name': 'example',
    'workspace.slug': 'default',
  },
  env: {},
};

describe('the published schema', () => {
  const validate = new Ajv2020({ strict: false }).compile({
    ...pipelineSchema,
    $id: 'as-others-see-it',
  });

  it('tells definitions from others without our extension of it', () => {
    expect(validate(parse(SMALL))).toBe(true);
    expect(validate(parse(`${SMALL}timeout: "{{ params.x }}"`))).toBe(true);
    expect(validate(parse(`${SMALL}qualities: []`))).toBe(false);
    expect(validate(parse(`${HEAD}tasks: [{ id: a, kind: sink, type: file }]`))).toBe(false);
  });

  it.each(examples)('accepts examples/%s, which compiles without a warning', (_, example) => {
    validate(parse(example));
    expect(validate.errors).toBeNull();
    const parsed = parseDefinition(example, { env: {}, connections });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors, null, 1));
    expect(parsed.warnings).toEqual([]);
    const { graph } = compileDefinition(example, values);
    expect(graph.engine).toBe('BATCH');
    expect(graph.tasks.length).toBeGreaterThan(3);
    expect(JSON.stringify(graph)).not.toContain('{{');
  });

  it('has five examples, which together show every kind of transformation', () => {
    const text = examples.map(([, example]) => example).join('\n');
    const shown = [
      'sql',
      'filter',
      'rename',
      'cast',
      'deduplicate',
      'aggregate',
      'join',
      'mask',
      'javascript',
    ];
    for (const type of shown) expect(text).toMatch(new RegExp(`type: ${type}\\b`));
    expect(examples).toHaveLength(5);
  });
});
