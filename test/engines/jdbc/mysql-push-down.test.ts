import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { hasMariaDb } from '../../support/mariadb.js';
import { MysqlShop, NAMED } from './mysql-shop.js';

let shop: MysqlShop;

beforeAll(async () => {
  shop = await MysqlShop.open();
});
afterAll(() => shop?.close());
beforeEach(() => shop.reset());

(hasMariaDb() ? describe : describe.skip)('a graph pushed down to MySQL', () => {
  it.each<[string, object, string[], object[]]>([
    [
      'sql',
      {
        type: 'sql',
        sql: 'WITH few AS (SELECT * FROM orders WHERE id < 3) SELECT id, amount * 2 AS twice FROM few -- end',
      },
      ['orders'],
      [
        { id: 1, twice: '21.00' },
        { id: 2, twice: '8.00' },
      ],
    ],
    [
      'filter',
      { type: 'filter', where: 'orders.at IS NULL -- no date' },
      ['orders'],
      [{ id: 3, customer: 2, amount: '7.00', at: null }],
    ],
    [
      'rename',
      { type: 'rename', columns: { ID: 'Number' }, keepOnlyNamed: true },
      ['customers'],
      [{ Number: 1 }, { Number: 2 }, { Number: 5 }],
    ],
    [
      'deduplicate',
      { type: 'deduplicate', keys: ['customer'], orderBy: ['amount DESC -- the dearest'] },
      ['orders'],
      [
        { id: 1, customer: 1, amount: '10.50', at: '2026-01-01' },
        { id: 3, customer: 2, amount: '7.00', at: null },
        { id: 4, customer: 9, amount: '1.00', at: '2026-01-04' },
      ],
    ],
    [
      'deduplicate without an order',
      { type: 'deduplicate', keys: ['name', 'at'] },
      ['customers'],
      [1, 2, 5].map((id) => expect.objectContaining({ id })) as object[],
    ],
    [
      'aggregate',
      { type: 'aggregate', groupBy: ['customer'], measures: { total: 'sum(amount)', n: 'count(*)' } },
      ['orders'],
      [
        { customer: 1, total: '14.50', n: '2' },
        { customer: 2, total: '7.00', n: '1' },
        { customer: 9, total: '1.00', n: '1' },
      ],
    ],
    [
      'left join',
      { type: 'join', how: 'LEFT', on: { customer: 'id' } },
      ['orders', 'customers'],
      [
        expect.objectContaining({ id: 1, right_id: 1, name: 'Ada' }),
        expect.objectContaining({ id: 2, name: 'Ada' }),
        expect.objectContaining({ id: 3, name: 'Żaneta', at: null, right_at: '2021-01-01' }),
        expect.objectContaining({ id: 4, right_id: null, name: null }),
      ] as object[],
    ],
    [
      'full join',
      { type: 'join', how: 'FULL', on: ['id'] },
      ['orders', 'customers'],
      [
        expect.objectContaining({ id: 1, customer: 1, name: 'Ada' }),
        expect.objectContaining({ id: 2, customer: 1, name: 'Żaneta' }),
        expect.objectContaining({ id: 3, customer: 2, name: null }),
        expect.objectContaining({ id: 4, customer: 9, name: null }),
        expect.objectContaining({ id: 5, customer: null, name: 'Eve' }),
      ] as object[],
    ],
    [
      'semi join',
      { type: 'join', how: 'SEMI', on: { customer: 'id' } },
      ['orders', 'customers'],
      [1, 2, 3].map((id) => expect.objectContaining({ id })) as object[],
    ],
    [
      'anti join',
      { type: 'join', how: 'ANTI', on: { customer: 'id' } },
      ['orders', 'customers'],
      [expect.objectContaining({ id: 4 })] as object[],
    ],
    [
      'cross join',
      { type: 'join', how: 'CROSS' },
      ['customers', 'customers'],
      Array.from({ length: 9 }, () => expect.objectContaining({ right_id: expect.anything() })) as object[],
    ],
  ])('carries out %s inside the database', async (_, spec, inputs, expected) => {
    const sources = [...new Set(inputs)].map((id) => shop.jdbc.source(id));
    const outcome = await shop.jdbc.push([
      ...sources,
      shop.jdbc.transform('made', spec, inputs),
      shop.jdbc.target('out', 'made'),
    ]);
    expect(outcome).toMatchObject({ rows: expected.length, output: 'mart.t' });
    expect(Object.keys(outcome.within ?? {})).toEqual([...new Set(inputs), 'made']);
    expect(await shop.rows()).toEqual(expected);
  });

  it('tells the columns of every task by the names that the server gives their types', async () => {
    const outcome = await shop.jdbc.push([...shop.named(), shop.jdbc.target('out', 'named')]);
    const columns = [
      { name: 'id', type: 'int(11)' },
      { name: 'name', type: 'varchar(20)' },
    ];
    expect(outcome.columns).toEqual(columns);
    expect(outcome.within).toMatchObject({ named: { columns }, customers: { columns: { length: 3 } } });
  });

  it.each([', PRIMARY KEY (id)', ''])('upserts by key, and merges (%s)', async (keys) => {
    await shop.makeTable(keys);
    const graph = (mode: 'UPSERT' | 'MERGE') => [
      ...shop.named(),
      shop.jdbc.target('out', 'named', { mode, keys: ['id'] }),
    ];
    await shop.jdbc.push(graph('UPSERT'));
    expect(await shop.rows()).toEqual([...NAMED, { id: 7, name: 'kept' }]);
    shop.jdbc.nextRun();
    await shop.jdbc.push(graph('MERGE'));
    expect(await shop.rows()).toEqual(NAMED);
  });

  it.each(['APPEND', 'OVERWRITE', 'UPSERT', 'MERGE'] as const)('%s makes a missing table', async (mode) => {
    const keys = mode === 'UPSERT' || mode === 'MERGE' ? { keys: ['name'] } : {};
    await shop.jdbc.push([...shop.named(), shop.jdbc.target('out', 'named', { mode, ...keys })]);
    expect(await shop.rows()).toEqual(NAMED);
    const [{ Key } = {}] = await shop.server.rows("SHOW COLUMNS FROM mart.t LIKE 'name'");
    expect(Key).toBe('keys' in keys ? 'PRI' : '');
  });

  it('makes a table for what has no type or length by itself', async () => {
    const sql = `SELECT NULL AS nothing, '' AS empty, 'a' AS letter, x'00' AS bytes, uuid() AS id, 1.5e0 AS half,
      json_object('a', 1) AS json, now(6) AS at, true AS yes`;
    await shop.jdbc.push([shop.jdbc.source('made', { query: sql }), shop.jdbc.target('out', 'made')]);
    expect(await shop.rows()).toMatchObject([
      { nothing: null, empty: '', letter: 'a', half: 1.5, json: '{"a": 1}', yes: 1 },
    ]);
    shop.jdbc.nextRun();
    const longer = sql.replace('NULL', "'something'").replace("''", "'full'").replace("'a' AS", "'abc' AS");
    await shop.jdbc.push([shop.jdbc.source('made', { query: longer }), shop.jdbc.target('out', 'made')]);
    expect(await shop.rows()).toMatchObject([{ nothing: 'something', empty: 'full', letter: 'abc' }]);
  });

  it('reads a backslash as it stands, which the literals of parameters rely on', async () => {
    await shop.jdbc.push([
      shop.jdbc.source('made', { query: "SELECT concat('a', _utf8mb4 x'5c', 'b') AS v" }),
      shop.jdbc.transform('kept', { type: 'filter', where: "v = 'a\\b'" }, ['made']),
      shop.jdbc.target('out', 'kept'),
    ]);
    expect(await shop.rows()).toEqual([{ v: 'a\\b' }]);
  });

  it('merges by a condition, and adds the column that the table lacks', async () => {
    await shop.server.run(
      'CREATE TABLE mart.t (id int PRIMARY KEY, old varchar(9))',
      "INSERT INTO mart.t VALUES (1, 'a'), (7, 'kept')",
    );
    const into = { mode: 'MERGE', keys: ['id'], deleteWhen: "customers.name LIKE 'A%' OR id = 5" } as const;
    const target = shop.jdbc.target('out', 'customers', into);
    await expect(
      shop.jdbc.push([
        shop.jdbc.source('customers'),
        shop.jdbc.target('out', 'customers', { ...into, widen: false }),
      ]),
    ).rejects.toMatchObject({
      kind: 'TARGET',
      taskId: 'out',
      message: expect.stringContaining('no column name'),
    });
    const outcome = await shop.jdbc.push([shop.jdbc.source('customers'), target]);
    expect(outcome).toMatchObject({ rows: 3 });
    expect(outcome.healing).toEqual([
      { strategy: 'WIDEN_TARGET', reason: expect.stringMatching(/name .*at/) },
    ]);
    expect(await shop.rows()).toEqual([
      { id: 2, old: null, name: 'Żaneta', at: '2021-01-01' },
      { id: 7, old: 'kept', name: null, at: null },
    ]);
  });

  it('takes a table for itself even where a task has its name', async () => {
    await shop.jdbc.push([
      shop.jdbc.source('orders', { query: 'SELECT 5 AS id; -- one' }),
      shop.jdbc.source('all', { query: 'SELECT id FROM orders' }),
      shop.jdbc.transform(
        'both',
        { type: 'sql', sql: 'SELECT id FROM orders UNION ALL SELECT id FROM `all`; -- both\n' },
        ['orders', 'all'],
      ),
      shop.jdbc.target('t', 'both', { table: 'numbers', mode: 'APPEND' }),
      shop.jdbc.target('numbers', 'both', { mode: 'APPEND' }),
    ]);
    expect(await shop.rows('numbers')).toHaveLength(5);
    expect(await shop.rows()).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }, { id: 5 }]);
  });

  it('reads what was there before the run, also where a target writes it', async () => {
    await shop.makeTable();
    await shop.server.run('CREATE VIEW mart.seen AS SELECT * FROM mart.t');
    await shop.jdbc.push([
      shop.jdbc.source('seen', { table: 'mart.seen' }),
      shop.jdbc.transform('kept', { type: 'filter', where: 'id > 1' }, ['seen']),
      shop.jdbc.target('out', 'kept'),
      shop.jdbc.target('archive', 'seen', { table: 'mart.archive', mode: 'APPEND' }),
    ]);
    expect(await shop.rows()).toEqual([{ id: 7, name: 'kept' }]);
    expect(await shop.rows('mart.archive')).toHaveLength(2);
    shop.jdbc.nextRun();
    await shop.jdbc.push([
      shop.jdbc.source('seen', { table: 'mart.archive' }),
      shop.jdbc.target('out', 'seen', { table: 'mart.archive', mode: 'APPEND' }),
    ]);
    expect(await shop.rows('mart.archive')).toHaveLength(4);
  });

  it('lets two targets make and widen one table', async () => {
    await shop.jdbc.push([
      ...shop.named(),
      shop.jdbc.transform('ids', { type: 'sql', sql: 'SELECT id FROM named' }, ['named']),
      shop.jdbc.target('first', 'ids', { mode: 'APPEND' }),
      shop.jdbc.target('second', 'named', { mode: 'APPEND' }),
    ]);
    expect(await shop.rows('mart.t', 'name')).toEqual([
      { id: 1, name: null },
      { id: 2, name: null },
      ...NAMED,
    ]);
  });
});
