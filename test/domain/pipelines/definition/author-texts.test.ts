import { expect, it } from '@jest/globals';
import { parseDefinition } from '../../../../src/domain/pipelines/definition/index.js';
import { HEAD } from './definitions.js';

/** `line:column path: language text` of each text that is given to the parsers of BATCH. */
function texts(yaml: string): string[] {
  return parseDefinition(HEAD + yaml).texts.map(({ author, error }) => {
    const { line, column, path } = error('');
    const by = author.language === 'measure' ? ` by ${author.groupBy.join(', ')}` : '';
    return `${line}:${column} ${path}: ${author.language}${by} ${author.text}`;
  });
}

const FILE = 'source: { id: a, type: file, path: a.csv }\n';
const inDatabase = (type: string) => `source: { id: a, type: ${type}, connection: c, table: t }
transformations: { id: b, type: sql, sql: SELECT DISTINCT ON (x) * FROM a }
target: { id: z, type: ${type}, connection: c, table: z, mode: OVERWRITE }
`;

it('every field that holds a language of BATCH is found, with its place', () => {
  expect(
    texts(`source:
  - { id: a, type: file, path: a.csv }
  - { id: p, type: postgres, connection: c, query: "SELECT x::text FROM t" }
transformations:
  - { id: s, type: sql, inputs: [a, p], sql: FROM a }
  - { id: f, type: filter, where: n > 1 }
  - { id: d, type: deduplicate, keys: [n], orderBy: [n, m DESC] }
  - { id: g, type: aggregate, groupBy: [m], measures: { total: sum(n) } }
  - { id: j, type: javascript, code: "let x" }
quality:
  - { on: s, type: customSql, sql: FROM s }
  - { on: s, type: regex, column: n, pattern: "^x" }
target: { id: z, type: postgres, connection: c, table: t, mode: MERGE, keys: [n], deleteWhen: gone }
`),
  ).toEqual([
    '7:46 transformations[0].sql: select FROM a',
    '8:35 transformations[1].where: expression n > 1',
    '9:54 transformations[2].orderBy[0]: orderTerm n',
    '9:57 transformations[2].orderBy[1]: orderTerm m DESC',
    '10:64 transformations[3].measures.total: measure by m sum(n)',
    '11:38 transformations[4].code: javascript let x',
    '15:95 target.deleteWhen: expression gone',
    '13:36 quality[0].sql: select FROM s',
    '14:47 quality[1].pattern: regex ^x',
  ]);
});

it('a text is known only without placeholders', () => {
  const yaml = `${FILE}transformations: { id: b, type: filter, where: "n > {{ params.n }}" }
target: { id: z, type: file, path: z.csv }
parameters: [{ id: n, type: INTEGER }]`;
  expect(texts(yaml)).toEqual([]);
  expect(texts(yaml.replace('{{ params.n }}', '1'))).toHaveLength(1);
});

it('what a measure is grouped by is known only without placeholders', () => {
  const aggregate = (groupBy: string) => `${FILE}transformations:
  { id: b, type: aggregate, measures: { n: x }${groupBy} }
target: { id: z, type: file, path: z.csv }
parameters: [{ id: n, type: STRING }]`;
  const place = '5:44 transformations.measures.n:';
  expect(texts(aggregate(''))).toEqual([`${place} measure by  x`]);
  expect(texts(aggregate(', groupBy: ["{{ params.n }}"]'))).toEqual([`${place} expression x`]);
});

it.each(['postgres', 'mysql'])("what %s carries out, or may, is in that server's dialect", (type) => {
  const yaml = inDatabase(type);
  expect(texts(yaml)).toEqual([]);
  expect(texts(`${yaml}engine: JDBC`)).toEqual([]);
  expect(texts(`${yaml}engine: BATCH`)).toHaveLength(1);
  const elsewhere = yaml.replace('connection: c, table: z', 'connection: d, table: z');
  expect(texts(elsewhere)).toHaveLength(1);
  // Both may come to the same connection in a run.
  expect(texts(`${elsewhere.replace('connection: d', 'connection: "{{ env.D }}"')}`)).toEqual([]);
});

it('a definition with other errors is taken for BATCH only where mending them cannot make it another', () => {
  const yaml = inDatabase('postgres');
  expect(texts(yaml.replace('type: postgres', 'type: postgre'))).toEqual([]);
  expect(texts(`${yaml}engine: JBDC`)).toEqual([]);
  expect(texts(`${yaml.replace('connection: c, table: z', 'connection: d, table: z')}engine: JBDC`)).toEqual(
    [],
  );
  expect(texts(`${yaml.replace(/target: .*/, '')}`)).toEqual([]);
  expect(
    texts(`${FILE}transformations: { id: b, type: filter, where: n }\ntarget: { id: z, type: file }`),
  ).toEqual(['4:48 transformations.where: expression n']);
});
