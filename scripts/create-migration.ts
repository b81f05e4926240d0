import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { MikroORM } from '@mikro-orm/postgresql';
import { importSource } from './import-source.ts';

/**
 * Writes a migration for what the entities say and the snapshot does not yet, needing no database.
 *
 *   node scripts/create-migration.ts add-ticket-severity
 *   node scripts/create-migration.ts --check     exit code 1 when a migration is missing
 */
const root = path.join(import.meta.dirname, '..');
const directory = path.join(root, 'src/entities/migrations');
const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean', default: false } },
  allowPositionals: true,
});

const orm = await connectless();
try {
  await (values.check ? check(orm) : create(orm, positionals[0]));
} finally {
  await orm.close(true);
}

async function check(orm: MikroORM): Promise<void> {
  const unlisted =
    (await readMigrationNames()).join() !==
    orm.config
      .get('migrations')
      .migrationsList?.map((item) => item.name)
      .join();
  if (unlisted) fail('src/entities/migrations/index.ts does not list every migration of its folder.');
  if (await orm.migrator.checkSchema())
    fail('The entities differ from the migrations. Run: node scripts/create-migration.ts <name>');
}

async function create(orm: MikroORM, name: string | undefined): Promise<void> {
  if (name === undefined)
    return fail('Name the migration: node scripts/create-migration.ts add-ticket-severity');
  const { fileName } = await orm.migrator.create(undefined, false, false, name);
  if (fileName === '') return fail('The entities and the snapshot agree: there is nothing to migrate.');
  await writeIndex();
  await promisify(execFile)(path.join(root, 'node_modules/.bin/biome'), ['check', '--write', directory]);
  process.stdout.write(`src/entities/migrations/${fileName}\n`);
}

/** The entities need their decorators compiled, which Node's own type stripping does not do. */
async function connectless(): Promise<MikroORM> {
  const { ormConfiguration } =
    await importSource<typeof import('../src/database/orm.js')>('src/database/orm.ts');
  const options = ormConfiguration({ databaseUrl: 'postgres://127.0.0.1/none', poolSize: 1 });
  return MikroORM.init({
    ...options,
    baseDir: root,
    migrations: {
      ...options.migrations,
      path: directory,
      pathTs: directory,
      emit: 'ts',
      snapshot: true,
      snapshotName: '.snapshot',
    },
  });
}

async function readMigrationNames(): Promise<string[]> {
  const files = await readdir(directory);
  return files
    .filter((file) => /^Migration\d+.*\.ts$/.test(file))
    .map((file) => path.basename(file, '.ts'))
    .sort();
}

async function writeIndex(): Promise<void> {
  const names = await readMigrationNames();
  const lines = [
    ...names.map((name) => `import { ${name} } from './${name}.js';`),
    '',
    '/** Written by scripts/create-migration.ts. The names are what the database remembers: never rename one. */',
    'export const migrations = [',
    ...names.map((name) => `  { name: '${name}', class: ${name} },`),
    '];',
    '',
  ];
  await writeFile(path.join(directory, 'index.ts'), lines.join('\n'));
}

function fail(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 1;
}
