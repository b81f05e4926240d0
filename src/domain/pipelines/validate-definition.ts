import type { RequestContext } from '../../context.js';
import type { EngineKind } from '../../engines/engine.js';
import { Connection } from '../../entities/connections/connection.js';
import { invalid } from '../../errors.js';
import { validate } from '../validate.js';
import { definitionProblems } from './compile-definition.js';
import {
  type DefinitionError,
  type DefinitionWarning,
  inOrder,
  parseDefinition,
  type Task,
  type WrittenText,
} from './definition/index.js';
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
  const faults = await textErrors(context, parsed.texts);
  if (!parsed.ok || faults.length > 0) {
    const errors = inOrder([...(parsed.ok ? [] : parsed.errors), ...faults]);
    return { valid: false, errors, warnings: [], engine: null, taskCount: null, tasks: null };
  }
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

/** What the engine's own parsers say. A text they have no answer to is let through: it is read again when it is run. */
async function textErrors(
  { services }: RequestContext,
  texts: readonly WrittenText[],
): Promise<DefinitionError[]> {
  const faults = await services.engines.get('BATCH')?.judge?.(texts.map(({ author }) => author));
  return texts.flatMap(({ error }, index) => {
    const fault = faults?.[index];
    return fault === undefined ? [] : [error(fault)];
  });
}

/** @throws VALIDATION_ERROR that lists every fault with its line and column */
export function requireValid(report: DefinitionReport): void {
  if (!report.valid) throw invalid(definitionProblems(report.errors));
}
