import type { EntityManager } from '@mikro-orm/postgresql';
import type { RequestContext } from '../../context.js';
import type { EngineKind } from '../../engines/engine.js';
import { Workspace } from '../../entities/identity/workspace.js';
import { newUuid } from '../../entities/ids.js';
import type { Pipeline } from '../../entities/pipelines/pipeline.js';
import { AppError } from '../../errors.js';
import type { CompiledDefinition } from '../pipelines/index.js';
import { bindRun } from './bind-run.js';

/**
 * The engine that carries a run out, as far as that can be said before it begins: what AUTO means may depend on names of
 * connections that the run is given. The worker writes down which it used.
 */
export async function expectedEngine(
  { services }: RequestContext,
  em: EntityManager,
  { name: pipelineName, workspaceId }: Pipeline,
  { definition, graph }: CompiledDefinition,
  run: { yamlDefinition: string; parameters: Record<string, unknown> },
): Promise<EngineKind> {
  const isOpen = graph.tasks.some(({ spec }) => 'connection' in spec && spec.connection?.includes('{{'));
  if (definition.engine !== 'AUTO' || !isOpen) return graph.engine;
  const { slug: workspaceSlug } = await em.findOneOrFail(
    Workspace,
    { id: workspaceId },
    { fields: ['slug'] },
  );
  const now = services.now();
  try {
    const times = { startedAt: now, logicalTime: now };
    return bindRun(services, { ...run, ...times, id: newUuid(), pipelineName, workspaceSlug }).graph.engine;
  } catch (error) {
    // The run fails with it.
    if (error instanceof AppError) return graph.engine;
    throw error;
  }
}
