import { newUuid } from '../../src/entities/ids.js';
import { Pipeline } from '../../src/entities/pipelines/pipeline.js';
import { clientCredential, userCredential } from '../../test/support/credentials.js';
import { compare, type Effort, inArena, type ServerFiles } from './contest.js';

const yamlDefinition = `apiVersion: v1
name: bench
source: { id: a, type: inline, rows: [{ x: 1 }] }
transformations: { id: b, type: sql, inputs: [a], sql: "SELECT x FROM a" }
target: { id: t, type: file, path: bench.parquet, mode: OVERWRITE }
`;

/** Filing a ticket, and starting a run that nobody executes: both are one transaction with its event or message. */
export async function compareWrites(files: ServerFiles, effort: Effort): Promise<string[]> {
  const pipelineId = newUuid();
  return inArena(
    files,
    async ({ orm, acme }) => {
      const { organizationId, workspaceId, userIds } = acme;
      const now = new Date();
      const owner = { organizationId, workspaceId, createdBy: 'bench', createdAt: now, updatedAt: now };
      await orm.em
        .fork()
        .insert(Pipeline, { id: pipelineId, name: 'bench', yamlDefinition, notifications: null, ...owner });
      return [organizationId, workspaceId, userIds.agent, pipelineId];
    },
    async ({ app, bare }) => {
      const json = { 'content-type': 'application/json' };
      const agent = { ...(await userCredential(app, 'agent@acme.test')), ...json };
      const engineer = { ...(await clientCredential(app, 'demo-engineer')), ...json };
      const ticket = JSON.stringify({ title: 'Printer on fire', impact: 'high', urgency: 'medium' });
      const post = (url: string, headers: Record<string, string>, body: string) => ({
        url,
        method: 'POST' as const,
        headers,
        body,
      });
      const runPath = `/api/v1/pipelines/${pipelineId}/run`;
      return [
        ...(await compare(
          'create a ticket',
          [
            { name: 'bare Express + pg', request: post(`${bare}/v1/tickets`, json, ticket) },
            { name: 'REST', request: post(`${app}/v1/tickets`, agent, ticket) },
          ],
          effort,
        )),
        ...(await compare(
          'start a run',
          [
            { name: 'bare Express + pg', request: post(`${bare}${runPath}`, json, '{}') },
            { name: 'REST', request: post(`${app}${runPath}`, engineer, '{}') },
          ],
          effort,
        )),
      ];
    },
  );
}
