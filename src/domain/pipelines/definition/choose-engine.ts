import type { EngineKind } from '../../../engines/engine.js';
import type { TaskSpec } from '../../../engines/task-spec.js';

/** The engines that exist. A new one is added here and, when it can be asked for by name, in the schema. */
const BUILT: ReadonlySet<EngineKind> = new Set(['BATCH']);

export type EngineChoice = { ok: true; engine: EngineKind } | { ok: false; message: string };

interface Rule {
  engine: EngineKind;
  fits(specs: readonly TaskSpec[]): boolean;
  /** Does the same work, more slowly, while the engine is not built. */
  substitute?: EngineKind;
}

/** AUTO: an unbounded source wants STREAM, one connection for every dataset JDBC, anything else BATCH. First match wins. */
const RULES: readonly Rule[] = [
  { engine: 'STREAM', fits: (specs) => specs.some(isUnbounded) },
  { engine: 'JDBC', fits: isOnOneConnection, substitute: 'BATCH' },
  { engine: 'BATCH', fits: () => true },
];

/** Which engine runs these tasks, or why none can. */
export function chooseEngine(requested: EngineKind | 'AUTO', specs: readonly TaskSpec[]): EngineChoice {
  const rule = RULES.find(({ engine, fits }) => (requested === 'AUTO' ? fits(specs) : engine === requested));
  const candidates = requested === 'AUTO' ? [rule?.engine, rule?.substitute] : [rule?.engine];
  const engine = candidates.find((candidate) => candidate !== undefined && BUILT.has(candidate));
  return engine
    ? { ok: true, engine }
    : { ok: false, message: `The engine ${rule?.engine ?? requested} is not supported yet.` };
}

/** Source types that never end; none is built yet. */
const UNBOUNDED_TYPES: ReadonlySet<string> = new Set(['kafka']);

function isUnbounded(spec: TaskSpec): boolean {
  return spec.kind === 'source' && UNBOUNDED_TYPES.has(spec.type);
}

function isOnOneConnection(specs: readonly TaskSpec[]): boolean {
  const datasets = specs.filter(({ kind }) => kind !== 'transformation');
  const connections = new Set(datasets.map((spec) => ('connection' in spec ? spec.connection : undefined)));
  return connections.size === 1 && !connections.has(undefined);
}
