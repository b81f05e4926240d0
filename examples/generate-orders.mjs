// Makes orders.csv and rates.csv for examples/orders.yaml, the same bytes every time:
//   node examples/generate-orders.mjs <directory> [rows=200000]
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';

const CURRENCIES = { PLN: 1, EUR: 4.3, USD: 3.95, GBP: 5.05, CZK: 0.172, SEK: 0.379 };
const COUNTRIES = ['PL', 'DE', 'US', 'GB', 'CZ', 'SE', 'FR', 'NL'];
const FIRST_DAY = Date.UTC(2026, 0, 1);
const DAYS = 90;
const DAY_MS = 86_400_000;

/** mulberry32: a small generator of evenly spread 32-bit numbers, https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

async function writeLines(path, lines) {
  const file = createWriteStream(path);
  for (const line of lines) {
    if (!file.write(`${line}\n`)) await once(file, 'drain');
  }
  file.end();
  await finished(file);
}

function* rates(random) {
  yield 'currency,valid_on,rate';
  for (let day = 0; day < DAYS; day += 1) {
    for (const [currency, base] of Object.entries(CURRENCIES)) {
      const rate = currency === 'PLN' ? 1 : base * (0.97 + random() * 0.06);
      yield `${currency},${date(day)},${rate.toFixed(6)}`;
    }
  }
}

/** One in fifty is a correction of an order before it; a few have no country or a negative amount. */
function* orders(random, rows) {
  yield 'order_id,customer_id,country,currency,amount,ordered_on,updated_at';
  const pick = (list) => list[Math.floor(random() * list.length)];
  const currencies = Object.keys(CURRENCIES);
  let last;
  for (let row = 0, id = 1; row < rows; row += 1) {
    const corrected = last !== undefined && random() < 0.02;
    if (!corrected) {
      const day = Math.floor(random() * DAYS);
      const country =
        random() < 0.005 ? '' : random() < 0.1 ? ` ${pick(COUNTRIES).toLowerCase()}` : pick(COUNTRIES);
      last = { id: id++, day, head: `${1 + Math.floor(random() * 20_000)},${country},${pick(currencies)}` };
    }
    const amount = (random() < 0.003 ? -1 : 1) * (5 + random() * random() * 2_000);
    const updated = new Date(FIRST_DAY + last.day * DAY_MS + row * 10)
      .toISOString()
      .slice(0, 23)
      .replace('T', ' ');
    yield `${last.id},${last.head},${amount.toFixed(2)},${date(last.day)},${updated}`;
  }
}

function date(day) {
  return new Date(FIRST_DAY + day * DAY_MS).toISOString().slice(0, 10);
}

const [directory, rowsText = '200000'] = process.argv.slice(2);
const rows = Number(rowsText);
if (directory === undefined || !Number.isSafeInteger(rows) || rows < 1) {
  console.error('Usage: node examples/generate-orders.mjs <directory> [rows=200000]');
  process.exit(2);
}
await mkdir(directory, { recursive: true });
await writeLines(join(directory, 'rates.csv'), rates(randomFrom(1)));
await writeLines(join(directory, 'orders.csv'), orders(randomFrom(2), rows));
