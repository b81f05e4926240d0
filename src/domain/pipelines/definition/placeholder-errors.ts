import type { DefinitionError } from './pipeline-definition.js';
import { isSqlPlace, type Place, placeOf } from './placeholder-place.js';
import { BUILT_INS, type Placeholder, placeholdersIn } from './placeholders.js';
import type { DeclaredParameter } from './read-parameters.js';
import { quotedStretches } from './sql-quotes.js';
import { visitTexts } from './visit-texts.js';
import type { Path, YamlText } from './yaml-text.js';

export interface PlaceholderUse extends Placeholder {
  path: Path;
  place: Place;
}

export interface FoundPlaceholders {
  uses: PlaceholderUse[];
  errors: DefinitionError[];
}

/** Each is looked for in the text again to find its line: many thousands would take seconds. */
const MAX_ERRORS = 100;

/** Every placeholder of a definition, and what is wrong with its name or its place. Without `env` its variables are not judged. */
export function findPlaceholders(
  text: YamlText,
  parameters: readonly DeclaredParameter[],
  env: Readonly<Record<string, string>> | undefined,
): FoundPlaceholders {
  const found: FoundPlaceholders = { uses: [], errors: [] };
  const declared = new Set(parameters.map(({ id }) => id));
  visitTexts(text.value, {
    onText: (value, path) => {
      const placeholders = placeholdersIn(value);
      if (placeholders.length === 0) return;
      const place = placeOf(path, text.value);
      const quoted = isSqlPlace(place) ? quotedStretches(value, place) : [];
      const seen = new Map<string, number>();
      for (const placeholder of placeholders) {
        const nth = seen.get(placeholder.raw) ?? 0;
        seen.set(placeholder.raw, nth + 1);
        found.uses.push({ ...placeholder, path, place });
        if (found.errors.length >= MAX_ERRORS) continue;
        const message =
          placeProblem(placeholder, place, quoted) ?? nameProblem(placeholder, place, declared, env);
        if (message) found.errors.push(text.errorAt(message, path, placeholder.raw, nth));
      }
    },
    onKey: (key, path) => {
      const [first] = placeholdersIn(key);
      if (first) found.errors.push(text.error(`${first.raw} cannot stand in a name.`, path, key));
    },
  });
  return found;
}

function placeProblem(
  { raw, index }: Placeholder,
  place: Place,
  quoted: readonly [start: number, end: number][],
): string | undefined {
  if (place === 'fixed') return `${raw} cannot stand here: the tasks must be known before a run.`;
  return quoted.some(([start, end]) => index >= start && index < end)
    ? `${raw} cannot stand within quotes or a comment: it becomes a quoted literal by itself.`
    : undefined;
}

function nameProblem(
  { raw, name }: Placeholder,
  place: Place,
  declared: ReadonlySet<string>,
  env: Readonly<Record<string, string>> | undefined,
): string | undefined {
  if (Object.hasOwn(BUILT_INS, name)) return undefined;
  const dot = name.indexOf('.');
  const rest = name.slice(dot + 1);
  switch (dot < 0 ? '' : name.slice(0, dot)) {
    case 'params':
      if (place === 'default') return `${raw}: a default cannot refer to another parameter.`;
      return declared.has(rest) ? undefined : `${raw}: there is no parameter "${rest}".`;
    case 'env':
      return (env === undefined ? /^[A-Za-z_]\w*$/.test(rest) : Object.hasOwn(env, rest))
        ? undefined
        : `${raw}: the variable ${rest} is not set, or PIPELINE_ENV_ALLOWED does not name it.`;
    default:
      return `${raw}: the name is not known; there are params.<id>, env.<NAME>, ${Object.keys(BUILT_INS).join(', ')}.`;
  }
}
