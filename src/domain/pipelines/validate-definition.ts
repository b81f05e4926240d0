import type { RequestContext } from '../../context.js';
import type { EngineKind } from '../../engines/engine.js';
import { Connection } from '../../entities/connections/connection.js';
import { invalid } from '../../errors.js';
import { validate } from '../validate.js';
import { definitionProblems } from './compile-definition.js';
import {
  type DefinitionError,
  type DefinitionWarning,
  parseDefinition,
  type Task,
} from './definition/index.js';
import { faultsOf } from './judge-definition.js';
import { yamlDefinitionSchema } from './pipeline-input.js';

export interface DefinitionReport {
  valid: boolean;
  errors: readonly DefinitionError[];
  warnings: readonly DefinitionWarning[];
  /** Null while there are errors, as are the others. */
  engine: EngineKind | null;
  taskCount: number | null;
  tasks: readonly Pick<Task, 'id' | 'kind' | 'type' | 'inputs' | 'dependsOn' | 'level'>[] | null;
}

/** More than a workspace has; beyond it a connection would be called unknown. */
const MAX_CONNECTIONS = 10_000;

/** What a definition comes to, or everything that is wrong with it. @throws VALIDATION_ERROR when there is no text to judge */
export async function validateDefinition(
  context: RequestContext,
  input: { yamlDefinition: string },
): Promise<DefinitionReport> {
  const { yamlDefinition } = validate(yamlDefinitionSchema, input);
  const connections = await context.em.find(
    Connection,
    {},
    { fields: ['name', 'type'], limit: MAX_CONNECTIONS, orderBy: { id: 'asc' } },
  );
  const parsed = parseDefinition(yamlDefinition, {
    env: context.services.config.pipelineEnv,
    connections: new Map(connections.map(({ name, type }) => [name, type])),
  });
  const errors = await faultsOf(context.services, parsed);
  if (!parsed.ok || errors.length > 0)
    return { valid: false, errors, warnings: [], engine: null, taskCount: null, tasks: null };
  const { graph, warnings } = parsed;
  return {
    valid: true,
    errors: [],
    warnings,
    engine: graph.engine,
    taskCount: graph.tasks.length,
    tasks: graph.tasks,
  };
}

/** @throws VALIDATION_ERROR that lists every fault with its line and column */
export function requireValid(report: DefinitionReport): void {
  if (!report.valid) throw invalid(definitionProblems(report.errors));
}
