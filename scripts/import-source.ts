import { rm } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

/**
 * Compiles a file and what it imports from src into one module, without a build: for what runs outside jest's transform.
 * Node's own type stripping stops at the entities' decorators.
 *
 * @param entry path below the repository, such as `src/database/orm.ts`
 * @returns where the module lies; it finds the installed packages from there
 */
export async function bundleSource(entry: string): Promise<string> {
  const root = path.join(import.meta.dirname, '..');
  const name = `${path.parse(entry).name}.${process.pid}.${Date.now()}.mjs`;
  const outfile = path.join(root, 'node_modules/.cache/opsgraph', name);
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
  return outfile;
}

export async function importSource<Module>(entry: string): Promise<Module> {
  const outfile = await bundleSource(entry);
  try {
    // A path and not a URL: jest turns import() into require() when it loads its global set-up.
    return await import(outfile);
  } finally {
    await rm(outfile);
  }
}
