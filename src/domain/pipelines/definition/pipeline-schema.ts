import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import type { DefinitionError } from './pipeline-definition.js';
import type { Path, YamlText } from './yaml-text.js';

/** The published JSON Schema of the format; it holds exactly what works now. */
export const pipelineSchema = readSchema();

const validate = new Ajv2020({ allErrors: true, discriminator: true, verbose: true }).compile(pipelineSchema);

/** Documented, not built yet: these deserve a better answer than "unknown". `where` is matched against the path. */
const NOT_YET_KEYS: readonly { where: RegExp; keys: ReadonlySet<string> }[] = [
  { where: /^$/, keys: new Set(['parameters', 'quality', 'contract']) },
  { where: /^(source|target|tasks)/, keys: new Set(['incremental', 'connection', 'contract']) },
];
const NOT_YET_VALUES: readonly { key: string; values: ReadonlySet<string> }[] = [
  { key: 'engine', values: new Set(['STREAM', 'JDBC']) },
  { key: 'mode', values: new Set(['MERGE', 'UPSERT']) },
  {
    key: 'type',
    values: new Set(
      'mysql http kafka s3 filter rename cast deduplicate aggregate join mask javascript'.split(' '),
    ),
  },
];
/** They repeat what another error says better. */
const SILENT_KEYWORDS: ReadonlySet<string> = new Set(['if', 'oneOf', 'propertyNames']);

/** This module may be source, compiled, or part of a bundle, so the way leads up to the package. */
function readSchema(): Record<string, unknown> {
  for (let directory = import.meta.dirname; ; directory = dirname(directory)) {
    const path = join(directory, 'schema/pipeline.schema.json');
    if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'));
    if (directory === dirname(directory)) throw new Error('schema/pipeline.schema.json is missing.');
  }
}

/** Every way in which the value departs from the schema. */
export function structureErrors(text: YamlText): DefinitionError[] {
  if (validate(text.value)) return [];
  return (validate.errors ?? [])
    .filter((error) => !SILENT_KEYWORDS.has(error.keyword) && !error.schemaPath.startsWith('#/oneOf/'))
    .map((error) => explain(error, pathOf(error, text.value), text));
}

function explain(error: ErrorObject, path: Path, text: YamlText): DefinitionError {
  const name = nameOf(path.at(-1));
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'additionalProperties': {
      const key = String(params['additionalProperty']);
      return text.error(unknownKey(key, path), path, key);
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
      return text.error(`${name} must be ${TYPE_NAMES[String(params['type'])] ?? params['type']}.`, path);
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
  boolean: 'true or false',
};

function nameOf(step: string | number | undefined): string {
  if (step === undefined) return 'The definition';
  return typeof step === 'number' ? `Entry ${step + 1}` : step;
}

function unknownKey(key: string, path: Path): string {
  const where = String(path[0] ?? '');
  const planned = NOT_YET_KEYS.some((entry) => entry.where.test(where) && entry.keys.has(key));
  return planned ? `"${key}" is not supported yet.` : `Unknown key "${key}".`;
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
  const planned = NOT_YET_VALUES.some((entry) => entry.key === key && entry.values.has(String(value)));
  const choice = `${list(Array.isArray(allowed) ? allowed : [])}`;
  return planned
    ? `${key} ${shown(value)} is not supported yet here; ${choice}.`
    : `${key} cannot be ${shown(value)}: ${choice}.`;
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
