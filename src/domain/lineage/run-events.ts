import type { ConnectionTarget, ResultColumn } from '../../engines/engine.js';
import type { LineageEventType } from '../../entities/lineage/lineage-event.js';
import type { RunState } from '../../entities/runs/run-enums.js';
import { maskText } from '../../masking/mask-text.js';
import type { Task } from '../pipelines/index.js';
import type { ColumnLineage, InputField } from './column-lineage.js';
import { type DatasetId, datasetOf, sourceUri } from './dataset-name.js';

const PRODUCER = 'https://opsgraph.dev/opsgraph';
const FACETS = 'https://openlineage.io/spec/facets';

export interface LineageRun {
  id: string;
  state: RunState;
  startedAt: Date;
  finishedAt: Date | null;
  error: string | null;
  pipelineName: string;
  workspaceSlug: string;
  /** The run that this one retries, and the first of them all. */
  retryOf: string | null;
  firstRunId: string | null;
}

export interface TaskFacts {
  columns: readonly ResultColumn[];
  rows: number | null;
  bytes: number | null;
}

export interface LineageSources {
  run: LineageRun;
  /** In topological order. */
  tasks: readonly Task[];
  facts: ReadonlyMap<string, TaskFacts>;
  /** By the names that tasks give. */
  connections: ReadonlyMap<string, ConnectionTarget>;
  filesBase: string;
  /** Of what was kept before. */
  told: ReadonlySet<LineageEventType>;
  /** Where the columns of the targets come from; undefined when that is beyond all bounds. */
  trace(
    tasks: readonly Task[],
    columns: ReadonlyMap<string, readonly ResultColumn[]>,
    datasets: ReadonlyMap<string, DatasetId>,
  ): Promise<ReadonlyMap<string, ColumnLineage> | undefined>;
  now: Date;
}

export interface RunLineageEvent {
  eventType: LineageEventType;
  eventTime: Date;
  event: Record<string, unknown>;
}

const endings: Partial<Record<RunState, LineageEventType>> = {
  SUCCESS: 'COMPLETE',
  FAILED: 'FAIL',
  CANCELLED: 'ABORT',
};

/**
 * What is to be said of a run so far that was not said yet: that it started, what it reads once that is known, and how
 * it ended. OpenLineage 2-0-2, RunEvent.
 */
export async function runEvents(sources: LineageSources): Promise<RunLineageEvent[]> {
  const { run, told, tasks, facts } = sources;
  const events: RunLineageEvent[] = [];
  if (!told.has('START')) {
    events.push(runEvent(sources, 'START', run.startedAt, { inputs: [], outputs: [] }));
  }
  const ending = endings[run.state];
  if (ending !== undefined && run.finishedAt !== null) {
    if (told.has(ending)) return events;
    const ids = datasetIds(sources);
    const traced = await sources.trace(tasks, columnsOf(facts), ids);
    return [...events, runEvent(sources, ending, run.finishedAt, datasets(sources, ids, traced))];
  }
  const reads = tasks.some(({ id, kind }) => kind === 'source' && facts.get(id)?.columns.length);
  if (!reads || told.has('RUNNING')) return events;
  return [...events, runEvent(sources, 'RUNNING', sources.now, datasets(sources, datasetIds(sources)))];
}

interface Datasets {
  inputs: readonly object[];
  outputs: readonly object[];
}

function runEvent(
  { run }: LineageSources,
  eventType: LineageEventType,
  eventTime: Date,
  { inputs, outputs }: Datasets,
): RunLineageEvent {
  const namespace = `opsgraph.${run.workspaceSlug}`;
  const job = { namespace, name: run.pipelineName };
  const error = run.error !== null && {
    errorMessage: facet('1-0-1/ErrorMessageRunFacet', {
      message: maskText(run.error),
      programmingLanguage: 'SQL',
    }),
  };
  const parent = run.retryOf !== null && {
    parent: facet('1-1-0/ParentRunFacet', {
      run: { runId: run.retryOf },
      job,
      root: { run: { runId: run.firstRunId ?? run.retryOf }, job },
    }),
  };
  const jobType = { processingType: 'BATCH', integration: 'OPSGRAPH', jobType: 'PIPELINE' };
  return {
    eventType,
    eventTime,
    event: {
      eventType,
      eventTime: eventTime.toISOString(),
      producer: PRODUCER,
      schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
      run: { runId: run.id, facets: { ...parent, ...error } },
      job: { ...job, facets: { jobType: facet('2-0-3/JobTypeJobFacet', jobType) } },
      inputs,
      outputs,
    },
  };
}

function datasetIds({ tasks, connections, filesBase }: LineageSources): Map<string, DatasetId> {
  const ids = new Map<string, DatasetId>();
  for (const task of tasks) {
    const dataset = datasetOf(task, connections.get(connectionOf(task) ?? ''), filesBase);
    if (dataset) ids.set(task.id, dataset);
  }
  return ids;
}

function columnsOf(facts: LineageSources['facts']): ReadonlyMap<string, readonly ResultColumn[]> {
  return new Map([...facts].map(([id, known]) => [id, known.columns]));
}

function datasets(
  { tasks, facts }: LineageSources,
  ids: ReadonlyMap<string, DatasetId>,
  traced: ReadonlyMap<string, ColumnLineage> = new Map(),
): Datasets {
  const described = (kind: Task['kind'], more: (task: Task) => object) =>
    tasks.flatMap((task) => {
      const dataset = ids.get(task.id);
      if (task.kind !== kind || !dataset) return [];
      return [describe(task, dataset, facts.get(task.id), more(task))];
    });
  return {
    inputs: described('source', () => ({})),
    outputs: described('target', ({ id }) => columnLineageFacet(traced.get(id) ?? new Map())),
  };
}

function describe(task: Task, dataset: DatasetId, facts: TaskFacts | undefined, more: object): object {
  const statistics = {
    ...(facts?.rows != null && { rowCount: facts.rows }),
    ...(facts?.bytes != null && { size: facts.bytes }),
  };
  const uri = sourceUri(dataset);
  const isInput = task.kind === 'source';
  const statisticsFacet = isInput
    ? { inputFacets: { inputStatistics: facet('1-0-0/InputStatisticsInputDatasetFacet', statistics) } }
    : { outputFacets: { outputStatistics: facet('1-0-2/OutputStatisticsOutputDatasetFacet', statistics) } };
  return {
    ...dataset,
    facets: {
      dataSource: facet('1-0-1/DatasourceDatasetFacet', {
        name: connectionOf(task) ?? dataset.namespace,
        ...(uri !== undefined && { uri }),
      }),
      ...((facts?.columns.length ?? 0) > 0 && {
        schema: facet('1-1-1/SchemaDatasetFacet', { fields: facts?.columns }),
      }),
      ...more,
    },
    ...(Object.keys(statistics).length > 0 && statisticsFacet),
  };
}

function columnLineageFacet(lineage: ColumnLineage): object {
  if (lineage.size === 0) return {};
  const fields = [...lineage].map(([name, from]) => [name, { inputFields: from.map(inputField) }]);
  return { columnLineage: facet('1-2-0/ColumnLineageDatasetFacet', { fields: Object.fromEntries(fields) }) };
}

function inputField({ dataset, field, subtype, masking }: InputField): object {
  return { ...dataset, field, transformations: [{ type: 'DIRECT', subtype, masking }] };
}

function facet(schema: string, content: object): object {
  const [, name = ''] = schema.split('/');
  return { _producer: PRODUCER, _schemaURL: `${FACETS}/${schema}.json#/$defs/${name}`, ...content };
}

function connectionOf({ spec }: Task): string | undefined {
  return 'connection' in spec ? spec.connection : undefined;
}
