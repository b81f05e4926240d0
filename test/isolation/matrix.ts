import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Services } from '../../src/context.js';
import { buildGraph } from '../../src/graph/build-schema.js';
import { resolvers } from '../../src/resolvers/index.js';
import { itsmTables, platformTables } from '../../src/rest/tables.js';
import type { Reference } from './arguments.js';
import { queriesAndMutations } from './graphql-operations.js';
import { type House, type Houses, openHouses } from './houses.js';
import { comparable, leaked, type Operation } from './operation.js';
import { bySecret, emptyLists, furnish, kinds, make } from './reference-kinds.js';
import { rowOperation } from './rest-operations.js';

/**
 * Every root field and every row, found in the schema and in the tables: with own ids it must succeed, or the refusals
 * below would prove nothing. What the generator cannot build fails here until reference-kinds.ts gets a line.
 */
const schema = buildGraph(resolvers);
const rows = [...itsmTables, ...platformTables].flatMap<Parameters<typeof rowOperation>[1]>(
  (table) => table.rows,
);
const rootFields = queriesAndMutations(schema);
const operations: Operation[] = [
  ...rootFields,
  ...rows.filter((row) => row.kind === 'json').map((row) => rowOperation(schema, row)),
];

/** What stands between tenants: the filters of src/entities/tenancy.ts, the policies of src/entities/row-security.ts. */
export type Walls = 'both' | 'filters alone' | 'policies alone';

let houses: Houses;
/** Policies keep organizations apart, not the workspaces of one. */
let others: ('sibling' | 'stranger')[];

export function tryEverything(walls: Walls): void {
  // A row runs root fields: what one wall does for them alone, it does for the row.
  const tried = (walls === 'both' ? operations : rootFields).filter(({ name }) => !(name in bySecret));
  others = walls === 'policies alone' ? ['stranger'] : ['sibling', 'stranger'];

  beforeAll(async () => {
    houses = await openHouses();
    if (walls === 'filters alone') withoutPolicies(houses.app.services);
    if (walls === 'policies alone') withoutFilters(houses.app.services);
    // So that a list which forgets its tenant has something to show.
    for (const house of [houses.own, houses.sibling, houses.stranger])
      await furnish(await houses.actor(house));
  });

  afterAll(() => houses.close());

  describe('exceptions', () => {
    it('are operations that exist and take no id', () => {
      for (const name of Object.keys(bySecret)) {
        const operation = operations.find((candidate) => candidate.name === name);
        expect({ name, references: operation?.references }).toEqual({ name, references: [] });
      }
    });
  });

  describe.each(tried.map((operation): [string, Operation] => [operation.name, operation]))(
    '%s',
    (_name, operation) => {
      it('succeeds with own ids and shows nothing foreign', async () => {
        for (const reference of [undefined, ...operation.references.filter(({ required }) => !required)]) {
          const actor = await houses.actor(houses.own);
          const chosen = reference && { path: reference.path, id: await make(reference.kind, actor) };
          if (operation.reads && operation.shows && !reference) await make(operation.shows, actor);
          const before = await foreignDigests();
          const answer = await operation.send(actor, chosen);
          expect({ chosen, refusal: answer.refusal, body: answer.refusal && answer.body }).toEqual({
            chosen,
            refusal: undefined,
            body: undefined,
          });
          expect(foreignIn(answer, operation)).toEqual([]);
          expect(await foreignDigests()).toEqual(before);
          if (operation.reads && reference === undefined) expectRows(operation, answer.body);
        }
      });

      it.each(['stranger', 'nobody'])('shows nothing foreign to who names the tenant of %s', async (name) => {
        const slug = name === 'stranger' ? 'globex' : 'no-such-tenant';
        const before = await foreignDigests();
        const answer = await operation.send(await houses.actor(houses.own, { 'x-tenant-slug': slug }));
        expect(foreignIn(answer, operation)).toEqual([]);
        expect(await foreignDigests()).toEqual(before);
      });

      const foreign = operation.references.flatMap((reference) => casesOf(reference));
      if (foreign.length === 0) return;

      it.each(foreign)('knows no %s of the %s', async (_place, houseName, reference) => {
        const actor = await houses.actor(houses.own);
        const owner = await houses.actor(houses[houseName]);
        const id = await make(reference.kind, owner);
        const missing = kinds[reference.kind].absent();
        const before = await foreignDigests();

        const answer = await operation.send(actor, { path: reference.path, id });
        expect(foreignIn(answer, operation, id)).toEqual([]);
        expect(await foreignDigests()).toEqual(before);
        const asAbsent = await operation.send(await houses.actor(houses.own), {
          path: reference.path,
          id: missing,
        });
        if (houseName === 'sibling') {
          // A filter may as well find nothing; whatever is named or pointed at is refused (completion, Tenancy).
          expect(answer.refusal).toBe('AUTHORIZATION_ERROR');
          return;
        }
        if (!operation.reads) expect(answer.refusal).toBeDefined();
        if (operation.names(reference)) expect(answer.refusal).toBe('NOT_FOUND');
        expect(comparable(answer, id)).toBe(comparable(asAbsent, missing));
      });
    },
  );
}

function casesOf(reference: Reference): [string, 'sibling' | 'stranger', Reference][] {
  const place = `${reference.kind} at ${reference.path.join('.')}`;
  const strangers: [string, 'stranger', Reference] = [place, 'stranger', reference];
  return kinds[reference.kind].owner === 'workspace'
    ? [[place, 'sibling', reference], strangers]
    : [strangers];
}

function foreignHouses(): House[] {
  return others.map((name) => houses[name]);
}

function foreignIn(
  answer: Awaited<ReturnType<Operation['send']>>,
  operation: Operation,
  sent?: string,
): string[] {
  return foreignHouses().flatMap((house) => leaked(answer, house, operation.door, sent));
}

function foreignDigests(): Promise<string[]> {
  return Promise.all(foreignHouses().map((house) => houses.digest(house)));
}

/** An empty list would show nothing foreign whatever it does. */
function expectRows(operation: Operation, body: unknown): void {
  if (operation.name in emptyLists || operation.references.some((reference) => operation.names(reference)))
    return;
  // A list or a page: over REST the body, over GraphQL the value of the root field.
  const data = dataOf(body);
  const roots = [body, data, ...(typeof data === 'object' && data !== null ? Object.values(data) : [])];
  const lists = roots.flatMap((value) => [value, dataOf(value)]).filter((value) => Array.isArray(value));
  const rows = Math.max(...lists.map((list) => list.length));
  if (lists.length > 0)
    expect({ list: operation.name, isEmpty: rows === 0 }).toEqual({ list: operation.name, isEmpty: false });
}

function dataOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'data' in value ? value.data : undefined;
}

/** Requests as the role that sees everything. */
function withoutPolicies(services: Services): void {
  services.tenantOrm = services.orm;
}

function withoutFilters({ tenantOrm }: Services): void {
  for (const meta of tenantOrm.getMetadata().getAll().values()) {
    const filters = Object.entries(meta.filters).map(([name, filter]) => [
      name,
      { ...filter, cond: () => ({}) },
    ]);
    meta.filters = Object.fromEntries(filters);
  }
}
