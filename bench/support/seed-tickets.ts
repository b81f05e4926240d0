import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { newId } from '../../src/entities/ids.js';
import {
  TicketLevel,
  TicketPriority,
  TicketStatus,
  TicketType,
} from '../../src/entities/tickets/ticket-enums.js';

export interface TicketSeed {
  databaseUrl: string;
  organizationId: string;
  /** At least one; the tickets are spread over them. */
  userIds: readonly string[];
  teamIds: readonly string[];
  count: number;
  /** The newest ticket's moment; each one before it is a minute older. */
  until: Date;
}

const statuses = Object.values(TicketStatus);
const priorities = Object.values(TicketPriority);
const types = Object.values(TicketType);
const levels = Object.values(TicketLevel);
const words = [
  'printer',
  'vpn',
  'laptop',
  'mail',
  'database',
  'login',
  'screen',
  'badge',
  'network',
  'backup',
];
const MINUTE_MS = 60_000;

// biome-ignore format: the columns of the copy, in its order
const columns = [
  'id', 'organization_id', 'number', 'title', 'description', 'status', 'priority', 'impact', 'urgency', 'type',
  'category', 'tags', 'custom_fields', 'requester_id', 'assignee_id', 'team_id', 'source', 'resolution_due_at',
  'created_at', 'updated_at', 'version',
] as const;

/** Files tickets as one COPY: 100,000 take seconds, the trigger that counts them included. No events are recorded. */
export async function seedTickets(seed: TicketSeed): Promise<void> {
  const client = new Client({ connectionString: seed.databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const first = await reserveNumbers(client, seed);
    const target = client.query(copyFrom(`copy ticket (${columns.join(', ')}) from stdin`));
    await pipeline(Readable.from(lines(seed, first)), target);
    // The planner would otherwise choose for an empty table.
    await client.query('analyze ticket, ticket_total');
  } finally {
    await client.end();
  }
}

/** The number before the first one. */
async function reserveNumbers(client: Client, { organizationId, count }: TicketSeed): Promise<number> {
  const { rows } = await client.query<{ last_number: number }>(
    `insert into ticket_counter as counter (organization_id, last_number) values ($1, $2)
     on conflict (organization_id) do update set last_number = counter.last_number + $2
     returning last_number`,
    [organizationId, count],
  );
  return (rows[0]?.last_number ?? count) - count;
}

function* lines(seed: TicketSeed, first: number): Generator<string> {
  for (let at = 0; at < seed.count; at += 1) {
    const fields = ticket(seed, at, first + at + 1);
    yield `${columns.map((column) => fields[column] ?? '\\N').join('\t')}\n`;
  }
}

function ticket(
  seed: TicketSeed,
  at: number,
  number: number,
): Record<(typeof columns)[number], string | number | undefined> {
  const pick = <T>(values: readonly T[], salt: number) => values[scatter(at, salt) % values.length];
  const created = new Date(seed.until.getTime() - (seed.count - at) * MINUTE_MS);
  const word = pick(words, 0);
  return {
    id: newId('tkt'),
    organization_id: seed.organizationId,
    number,
    title: `${word} does not work (${number})`,
    description: `Since this morning the ${word} fails with error ${scatter(at, 9) % 10_000}; a restart did not help.`,
    status: pick(statuses, 1),
    priority: pick(priorities, 2),
    impact: pick(levels, 3),
    urgency: pick(levels, 4),
    type: pick(types, 5),
    category: word,
    tags: `{${word},site-${at % 20}}`,
    custom_fields: `{"asset":"A-${at % 5_000}"}`,
    requester_id: pick(seed.userIds, 6),
    assignee_id: at % 4 === 0 ? undefined : pick(seed.userIds, 7),
    team_id: at % 3 === 0 ? undefined : pick(seed.teamIds, 8),
    source: 'api',
    resolution_due_at: at % 5 === 0 ? new Date(created.getTime() + 480 * MINUTE_MS).toISOString() : undefined,
    created_at: created.toISOString(),
    updated_at: new Date(created.getTime() + (at % 600) * MINUTE_MS).toISOString(),
    version: 1,
  };
}

/** Fields that hang on nothing but the position, and not on each other: every run makes the same tickets. */
function scatter(at: number, salt: number): number {
  const mixed = Math.imul(at + 1, 0x9e37_79b1) ^ Math.imul(salt + 1, 0x85eb_ca6b);
  return (Math.imul(mixed ^ (mixed >>> 15), 0x2c1b_3c6d) >>> 8) & 0xff_ff_ff;
}
