import { durationMs } from './duration.js';
import type { DefinitionError } from './pipeline-definition.js';
import { visitTexts } from './visit-texts.js';
import type { YamlText } from './yaml-text.js';

const DURATION_KEYS: ReadonlySet<unknown> = new Set(['timeout', 'interval', 'maxInterval']);
/** Timers of node end at 24.8 days, the statement timeout of a PostgreSQL session of ours at 7. */
const MAX_DURATION_MS = 7 * 86_400_000;

/** What can be wrong with a duration anywhere. */
export function valueErrors(text: YamlText): DefinitionError[] {
  const errors: DefinitionError[] = [];
  visitTexts(text.value, {
    onText: (value, path) => {
      const message = durationProblem(value, path.at(-1));
      if (message) errors.push(text.error(message, path));
    },
  });
  return errors;
}

function durationProblem(value: string, key: string | number | undefined): string | undefined {
  const duration = DURATION_KEYS.has(key) ? durationMs(value) : undefined;
  if (duration === 0 && key === 'timeout') return 'timeout must be longer than nothing.';
  return duration !== undefined && duration > MAX_DURATION_MS ? `${key} can be 7 days at most.` : undefined;
}
