import {
  GraphQLBoolean,
  type GraphQLEnumType,
  GraphQLFloat,
  GraphQLID,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  type GraphQLScalarType,
  GraphQLString,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import type { InputProblem } from './failure.js';
import { fieldDefault, freshDefault } from './input-default.js';

/** Bound on the problems listed for one request; the first hundred say enough. */
export const MAX_PROBLEMS = 100;
/** Bound on nesting: recursive input types would otherwise let 1 MiB of brackets overflow the stack. */
const MAX_DEPTH = 64;

/** Constraint names for custom scalars whose parser refused a value; any other scalar's is `isScalar`. */
export type ScalarConstraints = { readonly [scalar: string]: string };

const SCALAR_CONSTRAINTS: ScalarConstraints = {
  UUID: 'isUuid',
  DateTime: 'isDateTime',
  EmailAddress: 'isEmail',
  URL: 'isUrl',
};

type Path = readonly (string | number)[];

/**
 * Looks at one value, adds what is wrong with it, and puts the defaults of absent fields in place. `path` is one list
 * that grows and shrinks on the way: a copy per field would cost more than the checks.
 */
type Check = (value: unknown, path: (string | number)[], problems: InputProblem[]) => void;

export function bodyProblem(path: Path, constraint: string, text: string): InputProblem {
  const field = path.join('.');
  return { path, field, constraint, message: `${field === '' ? 'body' : field} ${text}`, in: 'body' };
}

function report(problems: InputProblem[], path: Path, constraint: string, text: string): void {
  if (problems.length < MAX_PROBLEMS) problems.push(bodyProblem([...path], constraint, text));
}

export function isPlainObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isInt32 = (value: unknown) => Number.isInteger(value) && Math.abs(Number(value) + 0.5) < 2 ** 31;

const BUILT_IN = new Map<GraphQLScalarType, { constraint: string; text: string; test(v: unknown): boolean }>([
  [GraphQLString, { constraint: 'isString', text: 'must be a string', test: (v) => typeof v === 'string' }],
  [GraphQLInt, { constraint: 'isInt', text: 'must be an integer of 32 bits', test: isInt32 }],
  [GraphQLFloat, { constraint: 'isNumber', text: 'must be a number', test: (v) => Number.isFinite(v) }],
  [
    GraphQLBoolean,
    { constraint: 'isBoolean', text: 'must be a boolean', test: (v) => typeof v === 'boolean' },
  ],
  [
    GraphQLID,
    {
      constraint: 'isString',
      text: 'must be a string',
      test: (v) => typeof v === 'string' || Number.isInteger(v),
    },
  ],
]);

/**
 * Compiles structural checks of JSON values against GraphQL input types. All problems of a value are found, not the
 * first; graphql-jit would stop at one and name it only in prose.
 */
export class InputChecks {
  readonly #scalars: ScalarConstraints;
  readonly #objects = new Map<GraphQLInputObjectType, Check>();

  constructor(scalars: ScalarConstraints) {
    this.#scalars = { ...SCALAR_CONSTRAINTS, ...scalars };
  }

  of(type: GraphQLInputType): Check {
    const check = this.#nullable(getNullableType(type));
    if (!isNonNullType(type)) {
      return (value, path, problems) => value == null || check(value, path, problems);
    }
    return (value, path, problems) => {
      if (value === undefined) return report(problems, path, 'isDefined', 'is required');
      if (value === null) return report(problems, path, 'isNotNull', 'must not be null');
      return check(value, path, problems);
    };
  }

  #nullable(type: GraphQLInputType): Check {
    if (isListType(type)) return this.#list(type.ofType);
    if (isInputObjectType(type)) return this.#object(type);
    if (isEnumType(type)) return checkEnum(type);
    return checkScalar(type as GraphQLScalarType, this.#scalars);
  }

  #list(itemType: GraphQLInputType): Check {
    const item = this.of(itemType);
    return (value, path, problems) => {
      if (!Array.isArray(value)) return report(problems, path, 'isArray', 'must be a list');
      for (let at = 0; at < value.length && problems.length < MAX_PROBLEMS; at += 1) {
        path.push(at);
        item(value[at], path, problems);
        path.pop();
      }
    };
  }

  #object(type: GraphQLInputObjectType): Check {
    const known = this.#objects.get(type);
    if (known) return known;
    const fields = new Map<string, { check: Check; fallback: unknown }>();
    const check: Check = (value, path, problems) => {
      if (!isPlainObject(value)) return report(problems, path, 'isObject', 'must be an object');
      if (path.length >= MAX_DEPTH) return report(problems, path, 'maxDepth', 'is nested too deeply');
      for (const key of Object.keys(value)) {
        if (!fields.has(key)) report(problems, [...path, key], 'whitelistValidation', 'is not allowed');
      }
      for (const [name, field] of fields) {
        if (value[name] === undefined && field.fallback !== undefined)
          value[name] = freshDefault(field.fallback);
        else {
          path.push(name);
          field.check(value[name], path, problems);
          path.pop();
        }
      }
      if (type.isOneOf) checkOneOf(value, path, problems);
    };
    // Entered before its fields are compiled, since an input type may contain itself.
    this.#objects.set(type, check);
    for (const field of Object.values(type.getFields())) {
      fields.set(field.name, { check: this.of(field.type), fallback: fieldDefault(field) });
    }
    return check;
  }
}

/** graphql-jit does not enforce @oneOf. */
function checkOneOf(value: { [key: string]: unknown }, path: Path, problems: InputProblem[]): void {
  const given = Object.values(value);
  if (given.length === 1 && given[0] !== null) return;
  report(problems, path, 'isOneOf', 'must have exactly one field, and not null');
}

function checkEnum(type: GraphQLEnumType): Check {
  const names = type.getValues().map((value) => value.name);
  const known = new Set<unknown>(names);
  const text = `must be one of ${names.join(', ')}`;
  return (value, path, problems) => {
    if (!known.has(value)) report(problems, path, 'isIn', text);
  };
}

function checkScalar(type: GraphQLScalarType, constraints: ScalarConstraints): Check {
  const builtIn = BUILT_IN.get(type);
  if (builtIn) {
    return (value, path, problems) => {
      if (!builtIn.test(value)) report(problems, path, builtIn.constraint, builtIn.text);
    };
  }
  const constraint = constraints[type.name] ?? 'isScalar';
  return (value, path, problems) => {
    if (!parses(type, value)) report(problems, path, constraint, `must be a valid ${type.name}`);
  };
}

function parses(type: GraphQLScalarType, value: unknown): boolean {
  try {
    return type.parseValue(value) !== undefined;
  } catch {
    return false;
  }
}
