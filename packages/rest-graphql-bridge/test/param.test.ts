import { describe, expect, it } from '@jest/globals';
import { type Param, param } from '../src/index.js';

const read = (parser: Param<unknown>, raw: string): unknown => {
  const { value, refusal } = parser.read(raw);
  return refusal ? refusal.constraint : [value];
};

describe('param', () => {
  it.each<[string, Param<unknown>, string, unknown]>([
    ['int', param.int(), '-12', [-12]],
    ['int', param.int(), '1e3', 'isInt'],
    ['int', param.int(), '0x10', 'isInt'],
    ['int', param.int(), ' 1', 'isInt'],
    ['int', param.int(), '9007199254740993', 'isInt'],
    ['int with min', param.int({ min: 0 }), '-1', 'min'],
    ['number', param.number({ max: 2 }), '1.5', [1.5]],
    ['number', param.number({ max: 2 }), '2.5', 'max'],
    ['number', param.number(), 'Infinity', 'isNumber'],
    ['number', param.number(), '1e999', 'isNumber'],
    ['string', param.string({ minLength: 2, maxLength: 3 }), 'a', 'minLength'],
    ['string', param.string({ minLength: 2, maxLength: 3 }), 'abcd', 'maxLength'],
    ['string', param.string({ pattern: /^[a-z]+$/g }), 'abc', ['abc']],
    ['string', param.string({ pattern: /^[a-z]+$/g }), 'ab1', 'matches'],
    ['boolean', param.boolean(), '0', [false]],
    ['boolean', param.boolean(), 'toString', 'isBoolean'],
    ['dateTime', param.dateTime(), '2024-02-29T23:59:59.5+02:00', ['2024-02-29T23:59:59.5+02:00']],
    ['dateTime', param.dateTime(), '2023-02-29T00:00:00Z', 'isDateTime'],
    ['dateTime', param.dateTime(), '2024-01-01', 'isDateTime'],
    ['dateTime', param.dateTime(), '2024-01-01T25:00:00Z', 'isDateTime'],
    ['uuid', param.uuid(), '0190A1B2-0000-7000-8000-0123456789AB', ['0190a1b2-0000-7000-8000-0123456789ab']],
    ['uuid', param.uuid(), '0190a1b2', 'isUuid'],
    ['oneOf', param.oneOf(['new', 'old']), 'old', ['old']],
    ['oneOf', param.oneOf(['new', 'old']), 'toString', 'isIn'],
    ['list', param.list(param.int()), '1,2,,3', [[1, 2, 3]]],
    ['list', param.list(param.int()), '', [[]]],
    ['list', param.list(param.int()), '1,x', 'isInt'],
    ['list', param.list(param.int(), { maxItems: 2 }), '1,2,3', 'maxItems'],
  ])('%s reads %#: %s', (_name, parser, raw, expected) => {
    expect(read(parser, raw)).toEqual(expected);
  });
});
