import { newId } from '../../src/entities/ids.js';
import { userCredential } from '../../test/support/credentials.js';
import { compare, type Effort, inArena, type Peer, type ServerFiles } from './contest.js';
import { seedTickets } from './seed-tickets.js';

const TENANTS = 10;
const TICKETS_EACH = 10_000;

const QUERY = `{ tickets(limit: 25) {
  data {
    id number title description status holdReason priority impact urgency type category subcategory tags customFields
    requesterId assigneeId teamId source resolution externalRefs createdAt updatedAt resolvedAt closedAt version
  }
  meta { pagination { page limit total totalPages hasMore } }
} }`;

/** The newest 25 tickets of one tenant out of ten, over REST and over GraphQL. */
export async function compareTicketLists(files: ServerFiles, effort: Effort): Promise<string[]> {
  return inArena(
    files,
    async ({ databaseUrl, acme }) => {
      for (let tenant = 0; tenant < TENANTS; tenant += 1) {
        await seedTickets({
          databaseUrl,
          organizationId: tenant === 0 ? acme.organizationId : newId('org'),
          userIds: Object.values(acme.userIds),
          teamIds: [acme.teamId],
          count: TICKETS_EACH,
          until: new Date(),
        });
      }
      return [acme.organizationId];
    },
    async ({ app, bare }) => {
      const headers = await userCredential(app, 'manager@acme.test');
      const peers: Peer[] = [
        { name: 'bare Express + pg', request: { url: `${bare}/v1/tickets?limit=25`, headers } },
        { name: 'REST', request: { url: `${app}/v1/tickets?limit=25`, headers } },
        {
          name: 'GraphQL',
          request: {
            url: `${app}/graphql`,
            method: 'POST',
            headers: { ...headers, 'content-type': 'application/json' },
            body: JSON.stringify({ query: QUERY }),
          },
        },
      ];
      await requireSameAnswer(peers);
      return compare(`list of 25 of ${TENANTS * TICKETS_EACH} tickets`, peers, effort);
    },
  );
}

async function requireSameAnswer([bare, rest, graphql]: Peer[]): Promise<void> {
  const [one, other] = await Promise.all([bare, rest].map(answerOf));
  if (one !== other) throw new Error('REST and the bare server do not answer the same JSON');
  const { data } = JSON.parse((await answerOf(graphql)) ?? '{}');
  const ids = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id).join();
  if (ids(data.tickets) !== ids(JSON.parse(one ?? '{}'))) throw new Error('GraphQL lists other tickets');
}

async function answerOf(peer: Peer | undefined): Promise<string | undefined> {
  if (peer === undefined) return undefined;
  const { url, method, headers, body } = peer.request;
  const init = { method: method ?? 'GET', headers: headers as Record<string, string>, body: body ?? null };
  return (await fetch(url, init as RequestInit)).text();
}
