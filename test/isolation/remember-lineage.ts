import type { Actor } from './houses.js';

/** A worker would say so a moment later. */
export async function rememberLineage({ houses, house }: Actor, runId: string): Promise<void> {
  await houses.em().execute(
    `insert into lineage_event (organization_id, workspace_id, run_id, event_type, event_time, event)
     values (?, ?, ?, 'START', now(), ?) on conflict do nothing`,
    [house.organizationId, house.workspaceId, runId, JSON.stringify({ note: house.marker })],
  );
}
