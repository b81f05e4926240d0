import { authorTexts } from './author-texts.js';
import { asText, bindPlaceholders } from './bind-placeholders.js';
import { chooseEngine, engineErrors, requestedEngine } from './choose-engine.js';
import { compileGraph, compileTasks, policiesOf } from './compile-graph.js';
import { graphErrors } from './graph-errors.js';
import { lintDefinition, type Written } from './lint-definition.js';
import type {
  Contract,
  DefinitionError,
  DefinitionWarning,
  ParameterValues,
  ParsedDefinition,
  PipelineDefinition,
  WrittenText,
} from './pipeline-definition.js';
import { structureErrors, textsExpectedAt } from './pipeline-schema.js';
import { findPlaceholders } from './placeholder-errors.js';
import { awaitReferences, checkErrors, readChecks } from './quality-checks.js';
import { readItems } from './read-items.js';
import { type DeclaredParameter, parameterErrors, readParameters } from './read-parameters.js';
import { taskErrors } from './task-errors.js';
import { valueErrors } from './value-errors.js';
import { readYaml, type YamlText } from './yaml-text.js';

/** Enough to see what is wrong; a file of another kind would give thousands. */
const MAX_ERRORS = 100;

export interface ParseOptions {
  /** Of the run that is to be compiled for; without them placeholders stay as they are written. */
  values?: ParameterValues;
  /** Without values: the variables a run will have. Left out, any name of a variable is let through. */
  env?: Readonly<Record<string, string>>;
  /** Asks for warnings: the connections of the workspace, name to type. */
  connections?: ReadonlyMap<string, string>;
}

/** Reads, checks and compiles a definition. Gives all errors at once in the order of the text, and never throws on text. */
export function parseDefinition(yaml: string, options: ParseOptions = {}): ParsedDefinition {
  const read = readYaml(yaml);
  if (!read.ok) return refused(read.errors);
  const parameters = readParameters(read.text);
  const found = findPlaceholders(read.text, parameters, options.values?.env ?? options.env);
  const errors = [...found.errors, ...parameterErrors(parameters, read.text)];
  const { connections } = options;
  if (!options.values || errors.length > 0) {
    const lint =
      connections && ((written: Judged) => lintDefinition({ ...written, uses: found.uses, connections }));
    return judge(read.text, parameters, errors, { isBound: false, lint });
  }
  const bound = bindPlaceholders(read.text, parameters, options.values);
  if (bound.problems.length > 0) return { ok: false, errors: [], texts: [], problems: bound.problems };
  const text = asText(bound, textsExpectedAt(bound.text));
  return judge(text, parameters, bound.errors, { isBound: true });
}

type Judged = Omit<Written, 'uses' | 'connections'>;

interface Judging {
  /** Whether no placeholder is left. */
  isBound: boolean;
  lint?: ((written: Judged) => DefinitionWarning[]) | undefined;
}

/** @param errors those found already */
function judge(
  text: YamlText,
  parameters: readonly DeclaredParameter[],
  errors: DefinitionError[],
  { isBound, lint }: Judging,
): ParsedDefinition {
  // A placeholder where none may stand is no id, no engine, no type either.
  const told = new Set(errors.map(({ path }) => path));
  errors.push(...structureErrors(text, isBound).filter(({ path }) => !told.has(path)));
  const checks = readChecks(text);
  const items = awaitReferences(readItems(text, errors), checks);
  errors.push(
    ...graphErrors(items, text),
    ...taskErrors(items, text),
    ...checkErrors(checks, items, text),
    ...valueErrors(text),
  );
  const choice = chooseEngine(requestedEngine(text), items, checks);
  errors.push(...engineErrors(choice, errors, text));
  const texts = isBound ? [] : authorTexts({ items, checks, choice, text }, errors);
  if (errors.length > 0) return refused(errors, texts);
  const definition = toDefinition(text, parameters);
  const graph = compileGraph(compileTasks(items, checks), choice.engine);
  const warnings = lint?.({ text, items, checks, parameters, choice }) ?? [];
  return { ok: true, definition, graph, warnings, texts };
}

function toDefinition(text: YamlText, parameters: readonly DeclaredParameter[]): PipelineDefinition {
  const value = text.value as Readonly<Record<string, unknown>>;
  const { description } = value;
  const contract = value['contract'] as Partial<Contract> | undefined;
  return {
    apiVersion: 'v1',
    name: String(value['name']),
    ...(typeof description === 'string' && { description }),
    engine: requestedEngine(text),
    parameters: parameters.map(({ path: _, ...parameter }) => parameter),
    ...(contract && { contract: { ref: String(contract.ref), onBreach: contract.onBreach ?? 'BLOCK' } }),
    ...policiesOf(value),
  };
}

function refused(errors: readonly DefinitionError[], texts: WrittenText[] = []): ParsedDefinition {
  return { ok: false, errors: inOrder(errors), texts, problems: [] };
}

/** Each once, in the order of the text, as many as are told. */
export function inOrder(errors: readonly DefinitionError[]): DefinitionError[] {
  const distinct = new Map(errors.map((error) => [JSON.stringify(error), error]));
  const ordered = [...distinct.values()].sort((a, b) => a.line - b.line || a.column - b.column);
  return ordered.slice(0, MAX_ERRORS);
}
