import type { TaskSpec } from '../../engines/task-spec.js';
import type { RunWatermark } from '../../entities/runs/run.js';
import type { TaskGraph } from '../pipelines/index.js';

/** What an incremental source reads on: another table or another column has nothing to do with an old watermark. */
function sourceKey(spec: TaskSpec): string | undefined {
  if (!('incremental' in spec) || spec.incremental === undefined) return undefined;
  const connection = 'connection' in spec ? spec.connection : undefined;
  const table = 'table' in spec ? spec.table : undefined;
  return JSON.stringify([spec.type, connection ?? null, table ?? null, spec.incremental.column]);
}

/** The incremental sources of a graph: task id to what it reads on. */
export function watermarkSources({ tasks }: TaskGraph): Record<string, string> {
  return Object.fromEntries(
    tasks.flatMap(({ id, spec }) => {
      const key = sourceKey(spec);
      return key === undefined ? [] : [[id, key]];
    }),
  );
}

/** Where a task begins to read; undefined where it begins as its definition says. */
export function beginsAt(
  watermarks: Readonly<Record<string, RunWatermark>> | null,
  { id, spec }: { id: string; spec: TaskSpec },
): string | undefined {
  const watermark = watermarks?.[id];
  return watermark && watermark.source === sourceKey(spec) ? watermark.value : undefined;
}
