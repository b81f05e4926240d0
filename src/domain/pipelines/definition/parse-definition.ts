import { compileGraph, policiesOf } from './compile-graph.js';
import { engineErrors, graphErrors, taskErrors, valueErrors } from './meaning-errors.js';
import type {
  DefinitionError,
  ParsedDefinition,
  PipelineDefinition,
  RequestedEngine,
} from './pipeline-definition.js';
import { structureErrors } from './pipeline-schema.js';
import { readItems } from './read-items.js';
import { readYaml } from './yaml-text.js';

/** Enough to see what is wrong; a file of another kind would give thousands. */
const MAX_ERRORS = 100;

/** Reads, checks and compiles a definition. Gives all errors at once in the order of the text, and never throws on text. */
export function parseDefinition(yaml: string): ParsedDefinition {
  const read = readYaml(yaml);
  if (!read.ok) return refused(read.errors);
  const { text } = read;
  const errors = structureErrors(text);
  const items = readItems(text, errors);
  errors.push(...graphErrors(items, text), ...taskErrors(items, text), ...valueErrors(text));
  if (errors.length > 0) return refused(errors);
  const value = text.value as Readonly<Record<string, unknown>>;
  const definition = toDefinition(value);
  const engine = engineErrors(items, definition.engine, text);
  if (engine.length > 0) return refused(engine);
  return { ok: true, definition, graph: compileGraph(items, definition) };
}

function toDefinition(value: Readonly<Record<string, unknown>>): PipelineDefinition {
  const { description } = value;
  return {
    apiVersion: 'v1',
    name: String(value['name']),
    ...(typeof description === 'string' && { description }),
    engine: (value['engine'] as RequestedEngine | undefined) ?? 'AUTO',
    ...policiesOf(value),
  };
}

function refused(errors: readonly DefinitionError[]): ParsedDefinition {
  const distinct = new Map(errors.map((error) => [JSON.stringify(error), error]));
  const ordered = [...distinct.values()].sort((a, b) => a.line - b.line || a.column - b.column);
  return { ok: false, errors: ordered.slice(0, MAX_ERRORS) };
}
