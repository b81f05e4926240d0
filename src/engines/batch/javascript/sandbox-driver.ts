/**
 * Runs inside the interpreter around the author's `transform`; it takes what it needs of the language before their code
 * runs, so that they can redefine nothing it uses. Evaluates to a function of the columns' kinds.
 */
export const DRIVER = `(function () {
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const { isSafeInteger, isFinite } = Number;
  const { keys, assign, defineProperty } = Object;
  const ToNumber = Number, ToBigInt = BigInt, ToString = String, PromiseClass = Promise;
  const { toLowerCase, includes } = ''.constructor.prototype;
  const call = (() => {}).call.bind((() => {}).call);
  defineProperty(BigInt.prototype, 'toJSON', { value: function () { return ToString(this); } });
  delete Math.random;

  class RowError extends Error {}
  const progress = { row: 0 };
  // Names of all columns returned so far, as they are spelled and by their lower case.
  const spelled = { __proto__: null }, folded = { __proto__: null };
  let names = [], unbounded = { __proto__: null };

  function decode(row, kinds) {
    for (let i = 0; i < kinds.length; i++) {
      const value = row[kinds[i].name];
      if (typeof value !== 'string') continue;
      const number = ToNumber(value);
      row[kinds[i].name] = kinds[i].kind === 'double' || isSafeInteger(number) ? number : ToBigInt(value);
    }
    return row;
  }

  function meet(name) {
    const lower = call(toLowerCase, name);
    if (name === '') throw new RowError('has a column without a name');
    if (call(includes, name, '\\0')) throw new RowError('has a column whose name holds U+0000');
    if (lower in folded) throw new RowError('has a column whose name differs from that of another by case alone');
    spelled[name] = folded[lower] = true;
    names[names.length] = name;
  }

  function encode(row) {
    if (typeof row !== 'object' || row === null || isArray(row)) throw new RowError('is not a row');
    if (row instanceof PromiseClass) throw new RowError('is a promise; transform must not be async');
    let copy = row;
    const own = keys(row);
    for (let i = 0; i < own.length; i++) {
      const name = own[i];
      if (!(name in spelled)) meet(name);
      const value = row[name];
      const type = typeof value;
      if (type === 'function' || type === 'symbol') throw new RowError('holds a ' + type);
      if (type === 'bigint' || (type === 'number' && !isFinite(value))) {
        if (copy === row) copy = assign({ __proto__: null }, row);
        copy[name] = ToString(value);
        if (type === 'number') unbounded[name] = true;
      }
    }
    return stringify(copy);
  }

  return function (transform, kinds) {
    function run(text) {
      const rows = parse(text);
      let lines = '';
      let count = 0;
      for (let i = 0; i < rows.length; i++) {
        progress.row = i;
        const result = transform(decode(rows[i], kinds));
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
