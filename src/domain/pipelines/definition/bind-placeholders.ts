import type { FieldProblem } from '../../../errors.js';
import { checkGiven } from './check-parameters.js';
import { literal } from './literals.js';
import { nativeValue, readTyped, type TypedValue } from './parameter-types.js';
import type { DefinitionError, ParameterValues } from './pipeline-definition.js';
import { placeOf } from './placeholder-place.js';
import { BUILT_INS, fillIn, placeholdersIn } from './placeholders.js';
import { type DeclaredParameter, defaultErrors } from './read-parameters.js';
import type { Path, YamlText } from './yaml-text.js';

export interface Bound {
  text: YamlText;
  errors: DefinitionError[];
  /** Of what the run was given. */
  problems: FieldProblem[];
  /** Fields that became a number or a boolean, with the text they also could be, by their path as JSON. */
  typed: ReadonlyMap<string, string>;
}

/** A known name stands for a value, or for nothing when its parameter is optional and was not given. */
type Scope = ReadonlyMap<string, TypedValue | undefined>;

/** The definition with every placeholder replaced; its names must have been found good. */
export function bindPlaceholders(
  text: YamlText,
  parameters: readonly DeclaredParameter[],
  values: ParameterValues,
): Bound {
  const errors: DefinitionError[] = [];
  const { values: given, problems } = checkGiven(parameters, values.params);
  const scope = outerScope(values);
  const own = new Map<string, TypedValue | undefined>();
  const givenById = new Map(Object.entries(given));
  for (const parameter of parameters) {
    const value = givenById.get(parameter.id) ?? presetOf(parameter, scope, text, errors);
    own.set(`params.${parameter.id}`, value === undefined ? undefined : readTyped(parameter.type, value));
  }
  const typed = new Map<string, string>();
  const all: Scope = new Map([...scope, ...own]);
  const value = replaceTexts(text.value, [], (part, path) =>
    bindText(part, path, { text, scope: all, errors, typed }),
  );
  return { text: { ...text, value }, errors, problems, typed };
}

/** @throws TypeError when a built-in value is missing or none of its type: whoever starts runs made a mistake */
function outerScope({ builtIns, env }: ParameterValues): Scope {
  const scope = new Map<string, TypedValue | undefined>();
  for (const [name, type] of Object.entries(BUILT_INS)) {
    const value = readTyped(type, builtIns[name]);
    if (!value) throw new TypeError(`${name} is no ${type}`);
    scope.set(name, value);
  }
  for (const [name, value] of Object.entries(env)) scope.set(`env.${name}`, { type: 'STRING', text: value });
  return scope;
}

function presetOf(
  parameter: DeclaredParameter,
  scope: Scope,
  text: YamlText,
  errors: DefinitionError[],
): string | number | boolean | undefined {
  const { default: preset } = parameter;
  if (typeof preset !== 'string' || placeholdersIn(preset).length === 0) return preset;
  const filled = fillIn(preset, ({ name }) => scope.get(name)?.text ?? '');
  const problems = defaultErrors(parameter, filled, text);
  errors.push(...problems);
  return problems.length === 0 ? filled : undefined;
}

interface Binding {
  text: YamlText;
  scope: Scope;
  errors: DefinitionError[];
  typed: Map<string, string>;
}

function bindText(part: string, path: Path, { text, scope, errors, typed }: Binding): unknown {
  const placeholders = placeholdersIn(part);
  const place = placeholders.length === 0 ? 'fixed' : placeOf(path, text.value);
  // Defaults are filled in already; what is fixed has none.
  if (place === 'fixed' || place === 'default') return part;
  if (place === 'text') {
    for (const { raw, name } of placeholders) {
      if (!scope.get(name)) errors.push(text.errorAt(`${raw} has no value in this run.`, path, raw, 0));
    }
    const [only] = placeholders;
    const whole = only && part.trim() === only.raw ? scope.get(only.name) : undefined;
    const native = whole && nativeValue(whole);
    if (whole && typeof native !== 'string') {
      typed.set(JSON.stringify(path), whole.text);
      return native;
    }
  }
  return fillIn(part, ({ name }) => literal(scope.get(name), place));
}

function replaceTexts(value: unknown, path: Path, replace: (part: string, path: Path) => unknown): unknown {
  if (typeof value === 'string') return replace(value, path);
  if (Array.isArray(value))
    return value.map((element, index) => replaceTexts(element, [...path, index], replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, element]) => [key, replaceTexts(element, [...path, key], replace)]),
  );
}

/** Fields that take text only get their number or boolean as text again. `paths` are those of values that had to be text. */
export function asText({ text, typed }: Bound, paths: readonly Path[]): YamlText {
  const wanted = new Map(
    paths.flatMap((path) => {
      const key = JSON.stringify(path);
      const plain = typed.get(key);
      return plain === undefined ? [] : [[key, plain] as const];
    }),
  );
  if (wanted.size === 0) return text;
  return { ...text, value: replaceAt(text.value, [], wanted) };
}

function replaceAt(value: unknown, path: Path, wanted: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value))
    return value.map((element, index) => replaceAt(element, [...path, index], wanted));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, element]) => [key, replaceAt(element, [...path, key], wanted)]),
    );
  }
  return wanted.get(JSON.stringify(path)) ?? value;
}
