import type { TaskSpec } from '../../engines/task-spec.js';
import type { RunWatermark } from '../../entities/runs/run.js';

interface Tasks {
  tasks: readonly { id: string; spec: TaskSpec }[];
}

type Watermarks = Readonly<Record<string, RunWatermark>>;

/** What an incremental source reads on: another table or another column has nothing to do with an old watermark. */
function sourceKey(spec: TaskSpec): string | undefined {
  if (!('incremental' in spec) || spec.incremental === undefined) return undefined;
  const connection = 'connection' in spec ? spec.connection : undefined;
  return JSON.stringify([spec.type, connection ?? null, tableOf(spec) ?? null, spec.incremental.column]);
}

function tableOf(spec: TaskSpec): string | undefined {
  return 'table' in spec ? spec.table : undefined;
}

/** The incremental sources of a graph: task id to what it reads on. */
export function watermarkSources({ tasks }: Tasks): Record<string, string> {
  return Object.fromEntries(
    tasks.flatMap(({ id, spec }) => {
      const key = sourceKey(spec);
      return key === undefined ? [] : [[id, key]];
    }),
  );
}

/** Where a task of the graph begins to read; undefined where it begins as its definition says. */
export function beginsAt(
  watermarks: Watermarks | null,
  graph: Tasks,
  { id, spec }: { id: string; spec: TaskSpec },
): string | undefined {
  const source = sourceKey(spec);
  if (!watermarks || source === undefined) return undefined;
  const own = watermarks[id];
  if (own?.source === source) return own.value;
  return tableOf(spec) === undefined ? undefined : stoppedUnderOtherNames(watermarks, graph, source);
}

/**
 * How far a table was read by tasks that are gone, where there is no doubt which of those that are new goes on from there:
 * to read rows twice is better than to leave some out.
 */
function stoppedUnderOtherNames(watermarks: Watermarks, graph: Tasks, source: string): string | undefined {
  const now = watermarkSources(graph);
  const gone = Object.keys(watermarks).filter(
    (id) => watermarks[id]?.source === source && now[id] !== source,
  );
  const added = Object.keys(now).filter((id) => now[id] === source && watermarks[id]?.source !== source);
  const values = new Set(gone.map((id) => watermarks[id]?.value));
  return added.length <= gone.length && values.size === 1 ? [...values][0] : undefined;
}
