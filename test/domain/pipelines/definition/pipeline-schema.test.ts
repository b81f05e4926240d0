import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { pipelineSchema } from '../../../../src/domain/pipelines/definition/index.js';
import { compiled, HEAD, SMALL } from './definitions.js';

describe('the published schema', () => {
  const validate = new Ajv2020({ strict: false }).compile({
    ...pipelineSchema,
    $id: 'as-others-see-it',
  });

  it('accepts the examples without our extension of it', () => {
    const example = readFileSync(new URL('../../../../examples/orders.yaml', import.meta.url), 'utf8');
    expect(compiled(example).graph.levels.length).toBeGreaterThan(3);
    expect(validate(parse(example))).toBe(true);
    expect(validate(parse(SMALL))).toBe(true);
    expect(validate(parse(`${SMALL}qualities: []`))).toBe(false);
    expect(validate(parse(`${HEAD}tasks: [{ id: a, kind: sink, type: file }]`))).toBe(false);
  });
});
