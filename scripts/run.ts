import { importSource } from './import-source.ts';

/** node scripts/run.ts bench/read-rows.ts: runs a file that needs the entities, without a build. */
const [entry] = process.argv.splice(2, 1);
if (entry === undefined) throw new Error('Name a file: node scripts/run.ts bench/read-rows.ts');
await importSource(entry);
