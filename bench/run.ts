/** `npm run bench` runs them all, `npm run bench -- tickets-list writes` some. Each prints ratios against named peers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const benches = [
  'tickets-list',
  'writes',
  'identity',
  'masking',
  'read-rows',
  'jobs',
  'events',
  'webhooks',
  'webhooks-chaos',
  'engine/batch',
  'runs',
];
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !benches.includes(name));
if (unknown.length > 0)
  throw new Error(`No bench is called ${unknown.join(', ')}; there are ${benches.join(', ')}`);

for (const name of wanted.length > 0 ? wanted : benches) {
  process.stdout.write(`\n${name}\n`);
  const child = spawn(process.execPath, [path.join(import.meta.dirname, `${name}.ts`)], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exitCode = 1;
}
