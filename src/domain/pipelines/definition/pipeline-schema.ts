import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import type { DefinitionError } from './pipeline-definition.js';
import type { Path, YamlText } from './yaml-text.js';

/** The published JSON Schema of the format. */
export const pipelineSchema = readSchema();

const options = { allErrors: true, discriminator: true, verbose: true, allowUnionTypes: true } as const;
const validate = new Ajv2020(options).compile(pipelineSchema);

/** For a definition in which nothing is left to fill in: a value that looks like a placeholder is none. */
const validateBound = new Ajv2020(options).compile({
  ...pipelineSchema,
  $defs: { ...(pipelineSchema['$defs'] as object), placeholder: false },
});

/** They repeat what another error says better. */
const SILENT_KEYWORDS: ReadonlySet<string> = new Set(['if', 'oneOf', 'anyOf', 'propertyNames']);

/** This module may be source, compiled, or part of a bundle, so the way leads up to the package. */
function readSchema(): Record<string, unknown> {
  for (let directory = import.meta.dirname; ; directory = dirname(directory)) {
    const path = join(directory, 'schema/pipeline.schema.json');
    if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'));
    if (directory === dirname(directory)) throw new Error('schema/pipeline.schema.json is missing.');
  }
}

/** Every way in which the value departs from the schema. */
export function structureErrors(text: YamlText, isBound: boolean): DefinitionError[] {
  return departures(text, isBound ? validateBound : validate).map((error) =>
    explain(error, pathOf(error, text.value), text),
  );
}

/** Where a bound definition has a number or a boolean and only text will do. */
export function textsExpectedAt(text: YamlText): Path[] {
  return departures(text, validateBound)
    .filter(({ keyword, params }) => keyword === 'type' && params['type'] === 'string')
    .map((error) => pathOf(error, text.value));
}

function departures(text: YamlText, check: typeof validate): ErrorObject[] {
  if (check(text.value)) return [];
  return (check.errors ?? []).filter(
    ({ keyword, schemaPath, instancePath }) =>
      !SILENT_KEYWORDS.has(keyword) &&
      !(instancePath === '' && schemaPath.startsWith('#/oneOf/')) &&
      !schemaPath.startsWith('#/$defs/placeholder/'),
  );
}

function explain(error: ErrorObject, path: Path, text: YamlText): DefinitionError {
  const name = nameOf(path.at(-1));
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'additionalProperties': {
      const key = String(params['additionalProperty']);
      return text.error(`Unknown key "${key}".`, path, key);
    }
    case 'required':
      return text.error(`"${params['missingProperty']}" is missing.`, path);
    case 'discriminator': {
      const tag = String(params['tag']);
      return text.error(wrongTag(tag, params['tagValue'], error), path, tag);
    }
    case 'enum':
      return text.error(wrongValue(name, error.data, params['allowedValues']), path);
    case 'const':
      return text.error(wrongValue(name, error.data, [params['allowedValue']]), path);
    case 'pattern':
      return text.error(`${shown(error.data)} is not valid for ${name}: ${descriptionOf(error)}.`, path);
    case 'type':
      return text.error(`${name} must be ${typeNames(params['type'])}.`, path);
    case 'minItems':
    case 'minLength':
    case 'minProperties':
      return text.error(`${name} ${params['limit'] === 1 ? 'is empty' : error.message}.`, path);
    case 'uniqueItems':
      return text.error(`${name} holds the same twice.`, [...path, Number(params['j'])]);
    default:
      return text.error(`${name} ${error.message ?? 'is not valid'}.`, path);
  }
}

/** What a person who writes YAML calls the types of JSON Schema. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

function typeNames(types: unknown): string {
  return [types]
    .flat()
    .map((type) => TYPE_NAMES[String(type)] ?? type)
    .join(' or ');
}

function nameOf(step: string | number | undefined): string {
  if (step === undefined) return 'The definition';
  return typeof step === 'number' ? `Entry ${step + 1}` : step;
}

function wrongTag(tag: string, value: unknown, error: ErrorObject): string {
  const { oneOf } = error.parentSchema as { oneOf: Record<string, unknown>[] };
  const allowed = oneOf.map((branch) => tagOf(branch, tag));
  return value === undefined ? `"${tag}" is missing: ${list(allowed)}.` : wrongValue(tag, value, allowed);
}

/** The value of the tag that a branch, given directly or by reference, stands for. */
function tagOf(branch: Record<string, unknown>, tag: string): unknown {
  const own = branch['properties'] as Record<string, { const?: unknown }> | undefined;
  if (own) return own[tag]?.const;
  const definitions = pipelineSchema['$defs'] as Record<string, Record<string, unknown>>;
  const target = definitions[String(branch['$ref']).replace('#/$defs/', '')];
  return target && tagOf(target, tag);
}

function wrongValue(key: string, value: unknown, allowed: unknown): string {
  return `${key} cannot be ${shown(value)}: ${list(Array.isArray(allowed) ? allowed : [])}.`;
}

function list(values: readonly unknown[]): string {
  return values.length === 1 ? `it must be ${values[0]}` : `it must be one of ${values.join(', ')}`;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 100);
}

function descriptionOf(error: ErrorObject): string {
  const { description } = error.parentSchema as { description?: string };
  return description ?? `it must match ${String(error.params['pattern'])}`;
}

/** Ajv writes a JSON Pointer (RFC 6901); whether a step is an index only the value knows. */
function pathOf(error: ErrorObject, value: unknown): Path {
  let current = value;
  return error.instancePath
    .split('/')
    .slice(1)
    .map((step) => {
      const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
      const isIndex = Array.isArray(current);
      current = (current as Record<string, unknown> | undefined)?.[key];
      return isIndex ? Number(key) : key;
    });
}
