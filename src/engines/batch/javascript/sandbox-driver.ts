/**
 * Runs inside the interpreter around the author's `transform`; it takes what it needs of the language before their code
 * runs, so that they can redefine nothing it uses. Evaluates to a function of a row's kind and of the mark of wide numbers in JSON.
 */
export const DRIVER = `(function () {
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const { isSafeInteger, isFinite } = Number;
  const { keys, assign, defineProperty } = Object;
  const ToNumber = Number, ToBigInt = BigInt, ToString = String, PromiseClass = Promise;
  const { toLowerCase, includes, startsWith, slice, isWellFormed } = ''.constructor.prototype;
  const call = (() => {}).call.bind((() => {}).call);
  defineProperty(BigInt.prototype, 'toJSON', { value: function () { return written(this, isMarking); } });
  delete Math.random;

  class RowError extends Error {}
  const progress = { row: 0, column: '' };
  // Names of all columns returned so far, as they are spelled and by their lower case.
  const spelled = { __proto__: null }, folded = { __proto__: null };
  let names = [], unbounded = { __proto__: null };
  // Columns that are JSON or hold it; only in them a BigInt stays a number.
  const withJson = { __proto__: null };
  let mark, hasMarks = false, encoded, isMarking = false;

  function written(bigint, isMarked) {
    return (isMarked ? mark : '') + ToString(bigint);
  }

  function holdsJson(kind) {
    if (kind.each !== undefined) return holdsJson(kind.each);
    if (kind.fields === undefined) return kind === 'json';
    for (let i = 0; i < kind.fields.length; i++) if (holdsJson(kind.fields[i].kind)) return true;
    return false;
  }

  function unmarked(value) {
    if (typeof value === 'string') return call(startsWith, value, mark) ? ToBigInt(call(slice, value, mark.length)) : value;
    if (typeof value !== 'object' || value === null) return value;
    const own = keys(value);
    for (let i = 0; i < own.length; i++) value[own[i]] = unmarked(value[own[i]]);
    return value;
  }

  function decode(value, kind) {
    if (kind === 'integer' || kind === 'double') {
      if (typeof value !== 'string') return value;
      const number = ToNumber(value);
      return kind === 'double' || isSafeInteger(number) ? number : ToBigInt(value);
    }
    if (kind === 'json') return hasMarks ? unmarked(value) : value;
    if (value === null) return null;
    if (isArray(value)) {
      for (let i = 0; i < value.length; i++) value[i] = decode(value[i], kind.each);
      return value;
    }
    if (kind.each !== undefined) {
      const own = keys(value);
      for (let i = 0; i < own.length; i++) value[own[i]] = decode(value[own[i]], kind.each);
      return value;
    }
    for (let i = 0; i < kind.fields.length; i++) {
      const name = kind.fields[i].name;
      value[name] = decode(value[name], kind.fields[i].kind);
    }
    return value;
  }

  // Within a value JSON would leave out a function, and make a null of a number that is not finite.
  function within(name, value) {
    if (this === encoded) isMarking = name in withJson;
    const type = typeof value;
    if (type === 'function' || type === 'symbol') throw new RowError('holds a ' + type);
    return type === 'number' && !isFinite(value) ? ToString(value) : value;
  }

  function meet(name) {
    const lower = call(toLowerCase, name);
    if (name === '') throw new RowError('has a column without a name');
    if (call(includes, name, '\\0')) throw new RowError('has a column whose name holds U+0000');
    if (!call(isWellFormed, name)) throw new RowError('has a column whose name is no Unicode (half of a surrogate pair)');
    if (lower in folded) throw new RowError('has a column whose name differs from that of another by case alone');
    spelled[name] = folded[lower] = true;
    names[names.length] = name;
  }

  function isUnicode(value) {
    if (typeof value === 'string') return call(isWellFormed, value);
    if (typeof value !== 'object' || value === null) return true;
    const own = keys(value);
    for (let i = 0; i < own.length; i++) if (!isUnicode(own[i]) || !isUnicode(value[own[i]])) return false;
    return true;
  }

  // JSON has an escape for half of a surrogate pair, which DuckDB does not read.
  function asUnicode(line) {
    if (!call(includes, line, '\\\\ud')) return line;
    const row = parse(line);
    const own = keys(row);
    for (let i = 0; i < own.length; i++) {
      if (isUnicode(row[own[i]])) continue;
      progress.column = own[i];
      throw new RowError('holds text that is no Unicode (half of a surrogate pair)');
    }
    return line;
  }

  function encode(row) {
    if (typeof row !== 'object' || row === null || isArray(row)) throw new RowError('is not a row');
    if (row instanceof PromiseClass) throw new RowError('is a promise; transform must not be async');
    let copy = row, isNested = false;
    const own = keys(row);
    for (let i = 0; i < own.length; i++) {
      const name = own[i];
      const value = row[name];
      // JSON leaves it out.
      if (value === undefined) continue;
      if (!(name in spelled)) meet(name);
      const type = typeof value;
      if (type === 'function' || type === 'symbol') throw new RowError('holds a ' + type);
      if (type === 'object' && value !== null) isNested = true;
      if (type === 'bigint' || (type === 'number' && !isFinite(value))) {
        if (copy === row) copy = assign({ __proto__: null }, row);
        copy[name] = type === 'bigint' ? written(value, name in withJson) : ToString(value);
        if (type === 'number') unbounded[name] = true;
      }
    }
    if (!isNested) return asUnicode(stringify(copy));
    encoded = copy;
    const line = stringify(copy, within);
    isMarking = false;
    return asUnicode(line);
  }

  return function (transform, kind, markOfWide) {
    mark = markOfWide;
    if (kind !== undefined)
      for (let i = 0; i < kind.fields.length; i++) if (holdsJson(kind.fields[i].kind)) withJson[kind.fields[i].name] = true;
    function run(text) {
      const rows = parse(text);
      hasMarks = call(includes, text, mark);
      let lines = '';
      let count = 0;
      for (let i = 0; i < rows.length; i++) {
        progress.row = i;
        const result = transform(kind === undefined ? rows[i] : decode(rows[i], kind));
        if (result === null) continue;
        if (!isArray(result)) {
          lines += encode(result) + '\\n';
          count++;
          continue;
        }
        for (let j = 0; j < result.length; j++) lines += encode(result[j]) + '\\n';
        count += result.length;
      }
      progress.count = count;
      progress.length = lines.length;
      progress.found = stringify({ names, unbounded: keys(unbounded) });
      names = [];
      unbounded = { __proto__: null };
      return lines;
    }
    return { run, progress };
  };
})()`;
