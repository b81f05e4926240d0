import type { EngineKind } from '../../../engines/engine.js';
import type { DefinitionError, RequestedEngine } from './pipeline-definition.js';
import { type Obstacle, pushDownObstacles } from './push-down-obstacle.js';
import type { WrittenCheck } from './quality-checks.js';
import type { Item } from './read-items.js';
import type { YamlText } from './yaml-text.js';

export interface EngineChoice {
  requested: RequestedEngine;
  engine: EngineKind;
  /** Why it cannot run these tasks, each at the place that is at fault; none when it can. */
  obstacles: readonly Obstacle[];
  /** What kept the tasks from being pushed down. */
  notPushedDown: readonly Obstacle[];
}

interface Considered {
  requested: RequestedEngine;
  items: readonly Item[];
  notPushedDown: readonly Obstacle[];
}

interface Rule {
  engine: EngineKind;
  /** Whether AUTO means this engine. */
  fits(considered: Considered): boolean;
  obstacles(considered: Considered): readonly Obstacle[];
}

const NO_STREAM = 'the engine STREAM is not supported yet.';

/** AUTO: an unbounded source wants STREAM, what one database can do by itself JDBC, anything else BATCH. First match wins. */
const RULES: readonly Rule[] = [
  {
    engine: 'STREAM',
    fits: ({ items }) => items.some(isUnbounded),
    obstacles: ({ requested, items }) =>
      requested === 'AUTO' ? endless(items) : [{ why: NO_STREAM.replace(/^t/, 'T'), path: ['engine'] }],
  },
  {
    engine: 'JDBC',
    fits: ({ notPushedDown }) => notPushedDown.length === 0,
    obstacles: ({ notPushedDown }) =>
      notPushedDown.map((obstacle) => ({
        ...obstacle,
        why: `The engine JDBC runs everything inside one database: ${obstacle.why}`,
      })),
  },
  { engine: 'BATCH', fits: () => true, obstacles: ({ items }) => endless(items) },
];

/** Which engine runs these tasks, and why it cannot. Of tasks with other errors as well: what they say is taken as it is. */
export function chooseEngine(
  requested: RequestedEngine,
  items: readonly Item[],
  checks: readonly WrittenCheck[],
): EngineChoice {
  const notPushedDown = pushDownObstacles(items, checks);
  const considered = { requested, items, notPushedDown };
  const rule = RULES.find(({ engine, fits }) =>
    requested === 'AUTO' ? fits(considered) : engine === requested,
  );
  if (!rule) throw new Error(`no rule for the engine ${requested}`);
  return { requested, engine: rule.engine, obstacles: rule.obstacles(considered), notPushedDown };
}

/** Source types that never end; none is built yet. */
const UNBOUNDED_TYPES: ReadonlySet<unknown> = new Set(['kafka']);

function isUnbounded({ kind, value }: Item): boolean {
  return kind === 'source' && UNBOUNDED_TYPES.has(value['type']);
}

function endless(items: readonly Item[]): Obstacle[] {
  return items
    .filter(isUnbounded)
    .map(({ id, path }) => ({ why: `"${id}" never ends, and ${NO_STREAM}`, path, key: 'type' }));
}

const ENGINES: ReadonlySet<unknown> = new Set(['AUTO', ...RULES.map(({ engine }) => engine)]);

/** What is no engine is the schema's to tell. */
export function requestedEngine({ value }: YamlText): RequestedEngine {
  const engine: unknown = (value as Readonly<Record<string, unknown>> | null | undefined)?.['engine'];
  return ENGINES.has(engine) ? (engine as RequestedEngine) : 'AUTO';
}

/** @param others what is wrong besides: a type that is none, or targets that are none, have been told */
export function engineErrors(
  { obstacles }: EngineChoice,
  others: readonly DefinitionError[],
  text: YamlText,
): DefinitionError[] {
  const told = new Set(others.map(({ path }) => path));
  return obstacles
    .filter(({ path }) => path.length > 0 || others.length === 0)
    .map(({ why, path, key }) => text.error(why, path, key))
    .filter(({ path }) => !told.has(path));
}
