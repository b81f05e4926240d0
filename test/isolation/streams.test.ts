import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { buildGraph } from '../../src/graph/build-schema.js';
import { resolvers } from '../../src/resolvers/index.js';
import { itsmTables, platformTables } from '../../src/rest/tables.js';
import { eventually } from '../support/eventually.js';
import type { Chosen } from './arguments.js';
import { subscriptions } from './graphql-operations.js';
import { type Actor, type House, type Houses, openHouses } from './houses.js';
import { type OpenStream, openRow, openSubscription } from './open-stream.js';
import { leaked, type Operation } from './operation.js';
import { furnish, kinds, make } from './reference-kinds.js';
import { rowOperation } from './rest-operations.js';

interface Stream extends Operation {
  open(actor: Actor, chosen?: Chosen): Promise<OpenStream>;
}

const schema = buildGraph(resolvers);
const rows = [...itsmTables, ...platformTables].flatMap<Parameters<typeof rowOperation>[1]>(
  (table) => table.rows,
);
const streams: Stream[] = [
  ...subscriptions(schema).map((operation) => ({
    ...operation,
    open: (actor: Actor, chosen?: Chosen) => openSubscription(operation, actor, chosen),
  })),
  ...rows
    .filter((row) => row.kind !== 'json')
    .map((row) => rowOperation(schema, row))
    .map((operation) => ({
      ...operation,
      open: (actor: Actor, chosen?: Chosen) => openRow(operation, actor, chosen),
    })),
];

let houses: Houses;
const opened: OpenStream[] = [];

beforeAll(async () => {
  houses = await openHouses();
});

afterEach(async () => {
  for (const stream of opened.splice(0)) await stream.close();
});

afterAll(() => houses.close());

async function open(stream: Stream, chosen?: Chosen): Promise<OpenStream> {
  const following = await stream.open(await houses.actor(houses.own), chosen);
  opened.push(following);
  return following;
}

describe.each(streams.map((stream): [string, Stream] => [stream.name, stream]))('%s', (_name, stream) => {
  it('tells of what happens in the own house and of nothing that happens elsewhere', async () => {
    const following = await open(stream);
    const stranger = await houses.actor(houses.stranger);
    const sibling = await houses.actor(houses.sibling);
    const own = await houses.actor(houses.own);
    /** Whatever is read in order has passed the foreign events once the own one behind them is there. */
    const round = async () => {
      await furnish(stranger);
      await furnish(sibling);
      await furnish(own);
      return following.messages.length;
    };
    if (stream.references.some(({ required }) => required)) {
      expect(await following.outcome).toBeUndefined();
      await round();
    } else {
      // Nothing says that a subscription has begun but its first message.
      await eventually(async () => (await round()) > 0);
      const before = following.messages.length;
      await round();
      await eventually(() => following.messages.length > before);
    }
    expect(following.messages.some((message) => isOwn(message, houses.own))).toBe(true);
    expect(foreignIn(following, stream)).toEqual([]);
  });

  const cases = stream.references.flatMap((reference) =>
    kinds[reference.kind].owner === 'workspace'
      ? [['sibling', reference] as const, ['stranger', reference] as const]
      : [['stranger', reference] as const],
  );
  if (cases.length === 0) return;

  it.each(cases)('does not follow what belongs to the %s', async (houseName, reference) => {
    const id = await make(reference.kind, await houses.actor(houses[houseName]));
    const following = await open(stream, { path: reference.path, id });
    expect(await following.outcome).toBe(houseName === 'sibling' ? 'AUTHORIZATION_ERROR' : 'NOT_FOUND');
    expect(foreignIn(following, stream, id)).toEqual([]);
  });

  it.each(cases)('answers for what nobody has as for what the %s has', async (_houseName, reference) => {
    const following = await open(stream, { path: reference.path, id: kinds[reference.kind].absent() });
    expect(await following.outcome).toBe('NOT_FOUND');
  });
});

function isOwn(message: string, { marker, made }: House): boolean {
  return [marker, ...made.organization, ...made.workspace].some((text) => message.includes(text));
}

function foreignIn({ messages }: OpenStream, stream: Stream, sent?: string): string[] {
  const answer = { refusal: undefined, body: messages };
  return [houses.sibling, houses.stranger].flatMap((house) => leaked(answer, house, stream.door, sent));
}
