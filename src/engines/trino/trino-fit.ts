import type { EngineTask, GraphTask } from '../engine.js';
import type { TaskSpec } from '../task-spec.js';
import { catalogOf, type TrinoSettings } from './trino-settings.js';
import type { TrinoTargetSpec } from './write-statement.js';

type SpecName = { [S in TaskSpec as `${S['kind']}:${S['type']}`]: S };

const isWholeTable = ({ incremental }: { incremental?: unknown }) => incremental === undefined;
const always = () => true;

/** What is one SELECT, or one statement that leaves its table as it was when it fails. */
const FITS: { [Name in keyof SpecName]?: (spec: SpecName[Name]) => boolean } = {
  'source:postgres': isWholeTable,
  'source:mysql': isWholeTable,
  'transformation:sql': always,
  'transformation:filter': always,
  'transformation:rename': always,
  'transformation:cast': ({ onError }) => onError !== 'QUARANTINE',
  // Without an order the first row read is kept, and Trino reads in none.
  'transformation:deduplicate': ({ orderBy = [] }) => orderBy.length > 0,
  'transformation:aggregate': always,
  'transformation:join': always,
  'target:postgres': isOneStatement,
  'target:mysql': isOneStatement,
};

/** OVERWRITE would be two statements; Trino's MERGE cannot delete what the input has not. */
function isOneStatement({ mode, deleteWhen }: TrinoTargetSpec): boolean {
  return mode === 'APPEND' || mode === 'UPSERT' || (mode === 'MERGE' && deleteWhen !== undefined);
}

type PlannedTask = EngineTask & Pick<GraphTask, 'alone'>;

/** Whether Trino can carry out the graph as one statement over the catalogs that the workspace has. */
export function fitsTrino(
  settings: TrinoSettings,
  tasks: readonly PlannedTask[],
  workspaceId: string | undefined,
): boolean {
  const targets = tasks.filter(({ spec }) => spec.kind === 'target');
  return targets.length === 1 && tasks.every((task) => fits(settings, task, workspaceId));
}

function fits(settings: TrinoSettings, task: PlannedTask, workspaceId: string | undefined): boolean {
  const { spec, checks = [], alone = false } = task;
  if (checks.length > 0 || (alone && spec.kind !== 'target')) return false;
  if ('connection' in spec && spec.connection !== undefined) {
    if (catalogOf(settings, workspaceId, spec.connection) === undefined) return false;
  }
  const rule = FITS[`${spec.kind}:${spec.type}` as keyof SpecName] as
    | ((spec: TaskSpec) => boolean)
    | undefined;
  return rule?.(spec) ?? false;
}

/** Whether units are what a graph that fits has become: one, with everything in it. */
export function isForTrino(
  settings: TrinoSettings,
  units: readonly EngineTask[],
  workspaceId: string | undefined,
): boolean {
  const [unit, ...others] = units;
  if (!unit?.within || others.length > 0) return false;
  return fitsTrino(settings, [...unit.within, unit], workspaceId);
}
