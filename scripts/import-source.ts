import { rm } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

/**
 * Loads a module together with what it imports from src, without a build: for what runs outside jest's transform. Node's
 * own type stripping stops at the entities' decorators.
 *
 * @param entry path below the repository, such as `src/database/orm.ts`
 */
export async function importSource<Module>(entry: string): Promise<Module> {
  const root = path.join(import.meta.dirname, '..');
  const outfile = path.join(
    root,
    'node_modules/.cache/opsgraph',
    `${path.parse(entry).name}.${process.pid}.mjs`,
  );
  await build({
    entryPoints: [path.resolve(root, entry)],
    tsconfig: path.join(root, 'src/tsconfig.json'),
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node24',
    keepNames: true,
  });
  try {
    // A path and not a URL: jest turns import() into require() when it loads its global set-up.
    return await import(outfile);
  } finally {
    await rm(outfile);
  }
}
