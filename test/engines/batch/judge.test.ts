import { describe, expect, it } from '@jest/globals';
import { BatchEngine } from '../../../src/engines/batch/batch-engine.js';
import type { AuthorText } from '../../../src/engines/engine.js';
import { TrinoOrDuckDbEngine } from '../../../src/engines/trino/trino-or-duckdb.js';

const engine = new BatchEngine();
const select = (text: string): AuthorText => ({ language: 'select', text, inputs: ['a'] });
const where = (text: string): AuthorText => ({ language: 'expression', text, field: 'where' });
const term = (text: string): AuthorText => ({ language: 'orderTerm', text, field: 'orderBy' });
const measure = (text: string, ...groupBy: string[]): AuthorText => ({
  language: 'measure',
  text,
  field: 'measures',
  groupBy,
});
const code = (text: string): AuthorText => ({ language: 'javascript', text });
const pattern = (text: string): AuthorText => ({ language: 'regex', text });

const WRONG: readonly [AuthorText, string][] = [
  [select('SELEC nonsense'), 'SQL: syntax error at or near "SELEC" (line 1, column 1 of the SQL)'],
  [
    select('SELECT *\nFROM other'),
    '"other" is not an input of this transformation (inputs: a) (line 2, column 6 of the SQL)',
  ],
  [select('DROP TABLE a'), 'A transformation is exactly one SELECT statement.'],
  [select(''), 'A transformation is exactly one SELECT statement, this text has 0.'],
  [where('n >'), 'where: syntax error at end of input (line 1, column 4 of the SQL)'],
  [where('n IN (SELECT 1)'), 'where: A subquery is not available here (line 1, column 3 of the SQL)'],
  [term('n DESC, m'), 'orderBy must be one column or expression to order by.'],
  [
    where('n > 1 OR\n unnest(l)'),
    'where: The function unnest gives several rows, not one value (line 2, column 2 of the SQL)',
  ],
  [
    term('list.UNLIST()'),
    'orderBy: The function unlist gives several rows, not one value (line 1, column 1 of the SQL)',
  ],
  [
    measure('max(n) +\n Unnest(list(n))'),
    'measures: The function unnest gives several rows, not one value (line 2, column 2 of the SQL)',
  ],
  [
    measure('amount', 'country'),
    'measures: The column "amount" is not one value per group: put it into groupBy, or into an aggregate as any_value is (line 1, column 1 of the SQL)',
  ],
  [
    measure("sum(n) > 0 AND\n upper(o.name) = 'A'"),
    'measures: The column "o.name" is not one value per group: put it into groupBy, or into an aggregate as any_value is (line 2, column 8 of the SQL)',
  ],
  [measure('sum(n'), 'measures: syntax error at end of input (line 1, column 6 of the SQL)'],
  [
    code('function transform(row) {\n  return row'),
    "SyntaxError in line 2: unexpected token in expression: ''",
  ],
  [code('let a = 1\nlet a = 2'), 'SyntaxError in line 2: invalid redefinition of lexical identifier'],
  [pattern('('), 'RE2 cannot read the pattern: missing ): ('],
  [pattern('(?=a)'), 'RE2 cannot read the pattern: invalid perl operator: (?='],
];

const RIGHT: readonly AuthorText[] = [
  select('SELECT anything, x.y FROM a AS x'),
  select('FROM A'),
  select('WITH b AS (SELECT 1 AS n) SELECT * FROM a, b, range(3)'),
  where('unknown > 1 AND no_such_function(x)'),
  where('list_filter(l, x -> x > y)'),
  term('a.n DESC NULLS LAST'),
  ...[
    '1',
    'current_date',
    'sum(n) + max(upper(name)) FILTER (m > 1)',
    'sum(n) OVER (ORDER BY n)',
    'no_such_function(n)',
    'list_transform(list(n), x -> x + 1)',
    'generate_series(1, 3)',
    'upper(Country) || o.country || country.code || count(*)',
  ].map((text) => measure(text, 'COUNTRY')),
  code('function transform(row) { return row?.a ?? 1n }'),
  code('while (true) {}'),
  pattern("^\\d+ it's$"),
];

describe('what an author wrote, judged by the parsers that are going to read it', () => {
  it('has the faults no data can mend, each told, and nothing is told of the others', async () => {
    const texts = [...RIGHT, ...WRONG.map(([text]) => text)];
    expect(await engine.judge(texts)).toEqual([
      ...RIGHT.map(() => undefined),
      ...WRONG.map(([, why]) => why),
    ]);
  });

  it('is not judged when it breaks a parser, and what comes next is', async () => {
    expect((await engine.judge([code('['.repeat(90_000))]))[0]).toBeUndefined();
    expect(await engine.judge([code('let a'), code('let 1')])).toEqual([
      undefined,
      expect.stringMatching(/^SyntaxError in line 1: /),
    ]);
  });

  it('is only code where Trino may read the SQL', async () => {
    const trino = new TrinoOrDuckDbEngine({} as ConstructorParameters<typeof TrinoOrDuckDbEngine>[0]);
    expect(await trino.judge([select('SELEC'), code('('), select('FROM a')])).toEqual([
      undefined,
      expect.stringMatching(/^SyntaxError in line 1/),
      undefined,
    ]);
  });
});
