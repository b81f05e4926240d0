import type { EngineKind } from '../../../engines/engine.js';
import type { RequestedEngine, Task } from './pipeline-definition.js';
import { pushDownObstacle } from './push-down-obstacle.js';

export type EngineChoice = { ok: true; engine: EngineKind } | { ok: false; message: string };

interface Rule {
  engine: EngineKind;
  /** Whether AUTO means this engine. */
  fits(tasks: readonly Task[]): boolean;
  /** Why the engine cannot run these tasks when it is asked for by name. */
  obstacle(tasks: readonly Task[]): string | undefined;
}

/** AUTO: an unbounded source wants STREAM, what one database can do by itself JDBC, anything else BATCH. First match wins. */
const RULES: readonly Rule[] = [
  {
    engine: 'STREAM',
    fits: (tasks) => tasks.some(isUnbounded),
    obstacle: () => 'The engine STREAM is not supported yet.',
  },
  {
    engine: 'JDBC',
    fits: (tasks) => pushDownObstacle(tasks) === undefined,
    obstacle: (tasks) => {
      const why = pushDownObstacle(tasks);
      return why && `The engine JDBC runs everything inside one database: ${why}`;
    },
  },
  { engine: 'BATCH', fits: () => true, obstacle: () => undefined },
];

/** Which engine runs these tasks, or why none can. */
export function chooseEngine(requested: RequestedEngine, tasks: readonly Task[]): EngineChoice {
  const rule = RULES.find(({ engine, fits }) => (requested === 'AUTO' ? fits(tasks) : engine === requested));
  if (!rule) throw new Error(`no rule for the engine ${requested}`);
  const message = rule.obstacle(tasks);
  return message === undefined ? { ok: true, engine: rule.engine } : { ok: false, message };
}

/** Source types that never end; none is built yet. */
const UNBOUNDED_TYPES: ReadonlySet<string> = new Set(['kafka']);

function isUnbounded({ kind, type }: Task): boolean {
  return kind === 'source' && UNBOUNDED_TYPES.has(type);
}
