import path from 'node:path';
import { build } from 'esbuild';

/**
 * Loads a module of src without a build, for what runs outside jest's transform. Node's own type stripping stops at the
 * entities' decorators.
 *
 * @param entry path below src, such as `database/orm.ts`
 */
export async function importSource<Module>(entry: string): Promise<Module> {
  const root = path.join(import.meta.dirname, '..');
  const { name } = path.parse(entry);
  const outfile = path.join(root, 'node_modules/.cache/opsgraph', `${name}.${process.pid}.mjs`);
  await build({
    entryPoints: [path.join(root, 'src', entry)],
    tsconfig: path.join(root, 'src/tsconfig.json'),
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    keepNames: true,
  });
  // A path and not a URL: jest turns import() into require() when it loads its global set-up.
  return await import(outfile);
}
