import type { Actor } from './houses.js';

export const yamlDefinition = `apiVersion: v1
name: numbers
source: { id: numbers, type: inline, rows: [{ n: 1 }] }
target: { id: out, type: file, path: numbers.parquet, mode: OVERWRITE }
`;

/** A worker would say so a moment later. */
async function rememberLineage({ houses, house }: Actor, runId: string): Promise<void> {
  await houses.em().execute(
    `insert into lineage_event (organization_id, workspace_id, run_id, event_type, event_time, event)
     values (?, ?, ?, 'START', now(), ?) on conflict do nothing`,
    [house.organizationId, house.workspaceId, runId, JSON.stringify({ note: house.marker })],
  );
}

export function pipelineBody({ house }: Actor) {
  return { name: house.marker, yamlDefinition };
}

export async function startedRun(actor: Actor): Promise<string> {
  const pipelineId = await created(actor.asPlatform('POST', '/api/v1/pipelines', pipelineBody(actor)));
  const runId = await created(actor.asPlatform('POST', `/api/v1/pipelines/${pipelineId}/run`), 'runId');
  await rememberLineage(actor, runId);
  return runId;
}

export async function created(answer: ReturnType<Actor['asItsm']>, field = 'id'): Promise<string> {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`A fixture was not made: ${status} ${JSON.stringify(body)}`);
  return body[field];
}
