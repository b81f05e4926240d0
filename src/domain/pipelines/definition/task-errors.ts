import { fileFormat } from './file-format.js';
import type { DefinitionError } from './pipeline-definition.js';
import type { Item } from './read-items.js';
import type { YamlText } from './yaml-text.js';

type Check = (item: Item, text: YamlText) => DefinitionError[];

/** What the schema cannot say about one task. */
export function taskErrors(items: readonly Item[], text: YamlText): DefinitionError[] {
  return items.flatMap((item) =>
    (CHECKS[`${item.kind}:${item.value['type']}`] ?? []).flatMap((check) => check(item, text)),
  );
}

const CHECKS: Readonly<Record<string, readonly Check[]>> = {
  'source:file': [columnErrors, formatErrors, optionErrors, fileIncrementalErrors, fileQuarantineErrors],
  'source:http': [columnErrors],
  'source:inline': [columnErrors, inlineErrors],
  'source:postgres': [databaseSourceErrors],
  'source:mysql': [databaseSourceErrors],
  'transformation:filter': [oneInput],
  'transformation:rename': [oneInput, renameErrors],
  'transformation:cast': [oneInput, columnErrors, castErrors],
  'transformation:deduplicate': [oneInput],
  'transformation:aggregate': [oneInput, aggregateErrors],
  'transformation:join': [twoInputs, joinErrors],
  'transformation:mask': [oneInput],
  'transformation:javascript': [oneInput, columnErrors],
  'target:file': [formatErrors],
  'target:postgres': [tableTargetErrors],
  'target:mysql': [tableTargetErrors],
};

function formatErrors({ kind, value, path }: Item, text: YamlText): DefinitionError[] {
  const format = fileFormat(value);
  const at = [...path, 'path'];
  if (typeof value['path'] !== 'string') return [];
  if (!format) {
    return [text.error(`The format of "${value['path']}" is not clear from its ending: add "format".`, at)];
  }
  if (kind !== 'target' || format !== 'json') return [];
  return [text.error('A target can be csv, ndjson or parquet, not json.', at)];
}

function optionErrors({ value, path }: Item, text: YamlText): DefinitionError[] {
  const format = fileFormat(value);
  const errors: DefinitionError[] = [];
  if (format && format !== 'csv' && value['csv'] !== undefined) {
    errors.push(text.error(`"csv" does not apply to ${format}.`, path, 'csv'));
  }
  if (format === 'parquet' && value['columns'] !== undefined) {
    errors.push(text.error('A Parquet file brings its own column types.', path, 'columns'));
  }
  return errors;
}

/** Text that was not told its type is compared as whatever it looks like, which may change from run to run. */
function fileIncrementalErrors({ value, path }: Item, text: YamlText): DefinitionError[] {
  const column = keyOf(value['incremental'], 'column');
  const columns = value['columns'];
  const format = fileFormat(value);
  if (typeof column !== 'string' || format === undefined || format === 'parquet') return [];
  if (isMap(columns) && Object.hasOwn(columns, column)) return [];
  return [
    text.error(`The type of the incremental column "${column}" must be given in "columns".`, [
      ...path,
      'incremental',
      'column',
    ]),
  ];
}

function fileQuarantineErrors({ value, path }: Item, text: YamlText): DefinitionError[] {
  const format = fileFormat(value);
  if (value['quarantine'] === undefined || !format) return [];
  if (format !== 'csv') return [text.error(`"quarantine" does not apply to ${format}.`, path, 'quarantine')];
  if (value['columns'] !== undefined) return [];
  return [
    text.error('"quarantine" needs "columns": the types that a value has to cast to.', path, 'quarantine'),
  ];
}

function inlineErrors({ value, path }: Item, text: YamlText): DefinitionError[] {
  const rows = value['rows'];
  if (!Array.isArray(rows) || rows.length > 0 || value['columns'] !== undefined) return [];
  return [text.error('Without rows the columns are not known: add "columns".', [...path, 'rows'])];
}

function databaseSourceErrors({ value, path }: Item, text: YamlText): DefinitionError[] {
  if ((value['table'] === undefined) !== (value['query'] === undefined)) return [];
  return [text.error(`A ${value['type']} source has either "table" or "query".`, path)];
}

function oneInput(item: Item, text: YamlText): DefinitionError[] {
  return wrongCount(item, 1, 'one input', text);
}

function twoInputs(item: Item, text: YamlText): DefinitionError[] {
  return wrongCount(item, 2, 'two inputs, the left one first', text);
}

function wrongCount(item: Item, count: number, told: string, text: YamlText): DefinitionError[] {
  if (item.inputs.length === count) return [];
  const ids = item.inputs.map(({ id }) => id);
  const has =
    ids.length === 0 ? 'none' : `${ids.length} (${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', …' : ''})`;
  const message = `A ${item.value['type']} has ${told}; "${item.id}" has ${has}.`;
  return [text.error(message, item.value['inputs'] === undefined ? item.path : [...item.path, 'inputs'])];
}

/** Columns are told apart without regard to case, as everywhere in SQL. */
function renameErrors({ value, path }: Item, text: YamlText): DefinitionError[] {
  const columns = value['columns'];
  if (!isMap(columns)) return [];
  const seen = new Map<string, string>();
  return Object.entries(columns).flatMap(([from, to]) => {
    if (typeof to !== 'string') return [];
    const other = seen.get(to.toLowerCase());
    seen.set(to.toLowerCase(), from);
    return other === undefined
      ? []
      : [text.error(`"${from}" and "${other}" cannot both be named "${to}".`, [...path, 'columns', from])];
  });
}

const DECIMAL_TYPE = /^DECIMAL\((\d+),(\d+)\)$/;

/** Of `columns` that name types: names that differ by case alone, and more decimal places than digits. */
function columnErrors({ value, path }: Item, text: YamlText): DefinitionError[] {
  const columns = value['columns'];
  if (!isMap(columns)) return [];
  const seen = new Map<string, string>();
  return Object.entries(columns).flatMap(([name, type]) => {
    const at = [...path, 'columns', name];
    const other = seen.get(name.toLowerCase());
    seen.set(name.toLowerCase(), name);
    const [, digits, places] = DECIMAL_TYPE.exec(String(type)) ?? [];
    return [
      ...(other === undefined ? [] : [text.error(`"${other}" and "${name}" are one column.`, at)]),
      ...(Number(places) > Number(digits)
        ? [text.error(`${type} has more decimal places than digits.`, at)]
        : []),
    ];
  });
}

function castErrors({ value, path }: Item, text: YamlText): DefinitionError[] {
  const sets = value['onError'] === 'QUARANTINE';
  if (sets && value['quarantine'] === undefined) {
    return [text.error('QUARANTINE needs "quarantine: { maxShare }".', [...path, 'onError'])];
  }
  if (sets || value['quarantine'] === undefined) return [];
  return [text.error('"quarantine" applies to onError QUARANTINE only.', path, 'quarantine')];
}

function aggregateErrors({ value, path }: Item, text: YamlText): DefinitionError[] {
  const { groupBy, measures } = value;
  if (!Array.isArray(groupBy) || !isMap(measures)) return [];
  const groups = new Set(groupBy.map((column) => String(column).toLowerCase()));
  return Object.keys(measures)
    .filter((name) => groups.has(name.toLowerCase()))
    .map((name) => text.error(`"${name}" is a column of "groupBy" as well.`, [...path, 'measures'], name));
}

function joinErrors({ value, path }: Item, text: YamlText): DefinitionError[] {
  const isCross = value['how'] === 'CROSS';
  if (isCross && value['on'] !== undefined) return [text.error('A CROSS join has no "on".', path, 'on')];
  if (isCross || value['on'] !== undefined) return [];
  return [text.error('A join needs "on" (or how: CROSS).', path)];
}

/** What loads make for themselves: a target of the name would be written to and dropped, or hold no load's note any more. */
const OWN_TABLE = /^(?:(?:.*\.)?opsgraph_(?:load|staging(?:_\d+)?|arrays|shape)|opsgraph\.load)$/i;

const KEYED: ReadonlySet<unknown> = new Set(['UPSERT', 'MERGE']);

function tableTargetErrors({ value, path }: Item, text: YamlText): DefinitionError[] {
  const { table, mode, keys, deleteWhen } = value;
  const errors: DefinitionError[] = [];
  if (OWN_TABLE.test(String(table))) {
    errors.push(text.error(`"${table}" is a name that loads use themselves.`, [...path, 'table']));
  }
  if (KEYED.has(mode) && keys === undefined) {
    errors.push(text.error(`${mode} needs "keys".`, path, 'mode'));
  }
  if (mode !== undefined && !KEYED.has(mode) && keys !== undefined) {
    errors.push(text.error('"keys" applies to the modes UPSERT and MERGE only.', path, 'keys'));
  }
  if (mode !== undefined && mode !== 'MERGE' && deleteWhen !== undefined) {
    errors.push(text.error('"deleteWhen" applies to the mode MERGE only.', path, 'deleteWhen'));
  }
  return errors;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function keyOf(value: unknown, key: string): unknown {
  return isMap(value) ? value[key] : undefined;
}
