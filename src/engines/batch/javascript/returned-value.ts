import { type DuckDBType, DuckDBTypeId } from '@duckdb/node-api';
import { identifier, literal } from '../sql-text.js';
import { fieldsOf, nameOf } from './row-transport.js';

type StructType = DuckDBType & { typeId: DuckDBTypeId.STRUCT };

/** The type in which the file of what came back is read, for a column that is to become a `type`. */
export function readType(type: DuckDBType): 'JSON' | 'VARCHAR' {
  return isNested(type) || nameOf(type) === 'JSON' ? 'JSON' : 'VARCHAR';
}

function isNested({ typeId }: DuckDBType): boolean {
  return [DuckDBTypeId.LIST, DuckDBTypeId.ARRAY, DuckDBTypeId.STRUCT, DuckDBTypeId.MAP].includes(typeId);
}

/** SQL over a value that was read as its readType: the value in `type`; null when it is none of that type. */
export function restored(value: string, type: DuckDBType): string {
  switch (type.typeId) {
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.ARRAY:
      return `list_transform(${itemsOf(value)}, lambda item: ${restored(part('item', type.valueType), type.valueType)})`;
    case DuckDBTypeId.STRUCT: {
      const fields = fieldsOf(type).map(
        ({ name, type: each }) => `${identifier(name)} := ${restored(field(name, each), each)}`,
      );
      const struct = naming('item', partsOf(value, type), `struct_pack(${fields.join(', ')})`);
      return `CASE WHEN json_type(${value}) = 'OBJECT' THEN ${struct} END`;
    }
    case DuckDBTypeId.MAP: {
      const entry = `struct_pack(key := TRY_CAST(item.key AS ${type.keyType}), value := ${restored(part('item.value', type.valueType), type.valueType)})`;
      return `TRY(map_from_entries(list_transform(${entriesOf(value)}, lambda item: ${entry})))`;
    }
    case DuckDBTypeId.BLOB:
      return `TRY(from_base64(${value}))`;
    default:
      return nameOf(type) === 'JSON' ? value : `TRY_CAST(${value} AS ${type})`;
  }
}

/**
 * SQL that is true of a value, or of any within it, that is none of `type`. With `exact` also of one that would be
 * rounded (1.5 is no whole number, though it casts to 2) and of a struct with fields that the type has not.
 */
export function isBroken(value: string, type: DuckDBType, exact: boolean): string {
  return `(${value} IS NOT NULL AND ${differs(value, type, exact)})`;
}

function differs(value: string, type: DuckDBType, exact: boolean): string {
  switch (type.typeId) {
    case DuckDBTypeId.LIST:
      return anyBroken(itemsOf(value), 'item', type.valueType, exact);
    case DuckDBTypeId.ARRAY: {
      const otherLength = `len(${itemsOf(value)}) IS DISTINCT FROM ${type.length}`;
      return `(${otherLength} OR ${anyBroken(itemsOf(value), 'item', type.valueType, exact)})`;
    }
    case DuckDBTypeId.STRUCT:
      return structDiffers(value, type, exact);
    case DuckDBTypeId.MAP: {
      const anyValue = anyBroken(entriesOf(value), 'item.value', type.valueType, exact);
      return `(${anyValue} OR ${restored(value, type)} IS NULL)`;
    }
    default:
      return scalarDiffers(value, type, exact);
  }
}

function structDiffers(value: string, type: StructType, exact: boolean): string {
  const fields = fieldsOf(type).map(({ name, type: each }) => isBroken(field(name, each), each, exact));
  const names = type.entryNames.map(literal).join(', ');
  const conditions = [
    `json_type(${value}) <> 'OBJECT'`,
    ...(exact ? [`len(list_filter(json_keys(${value}), lambda name: name NOT IN (${names}))) > 0`] : []),
    naming('item', partsOf(value, type), fields.join(' OR ')),
  ];
  return `(${conditions.join(' OR ')})`;
}

/** True as well when `list` is null. */
function anyBroken(list: string, each: string, type: DuckDBType, exact: boolean): string {
  const broken = `list_filter(items, lambda item: ${isBroken(part(each, type), type, exact)})`;
  return naming('items', list, `(items IS NULL OR len(${broken}) > 0)`);
}

/** `body` with a name for what it uses more than once: SQL has none within an expression but that of a lambda. */
function naming(name: string, value: string, body: string): string {
  return `list_transform([${value}], lambda ${name}: ${body})[1]`;
}

/** Types whose casts round away what another type keeps, with that type. */
const WIDER: readonly (readonly [RegExp, string])[] = [
  [/^U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$/, 'DOUBLE'],
  [/^DATE$/, 'TIMESTAMP'],
];

function scalarDiffers(value: string, type: DuckDBType, exact: boolean): string {
  const broken = `${restored(value, type)} IS NULL`;
  const wider = exact && WIDER.find(([pattern]) => pattern.test(String(type)))?.[1];
  if (!wider) return broken;
  return `(${broken} OR TRY_CAST(${value} AS ${wider}) <> TRY_CAST(${restored(value, type)} AS ${wider}))`;
}

function itemsOf(json: string): string {
  return `TRY_CAST(${json} AS JSON[])`;
}

function entriesOf(json: string): string {
  return `map_entries(TRY_CAST(${json} AS MAP(VARCHAR, JSON)))`;
}

/** The JSON value of a part as its own readType. */
function part(json: string, type: DuckDBType): string {
  return readType(type) === 'JSON' ? json : `(${json}->>'$')`;
}

/** A JSON object as a struct of its values. */
function partsOf(json: string, type: StructType): string {
  return `TRY_CAST(${json} AS STRUCT(${type.entryNames.map((name) => `${identifier(name)} JSON`).join(', ')}))`;
}

/** Of the `item` that is such a struct. */
function field(name: string, type: DuckDBType): string {
  return part(`item.${identifier(name)}`, type);
}
