import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Compiles the bridge and src into their dist folders.
 * @returns what the compiler complained about; JavaScript is emitted all the same.
 */
export function compile(): string {
  // The exports of the package name no binary, its package.json is always reachable.
  const tsc = fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')));
  const run = spawnSync(process.execPath, [tsc, '-b', 'packages/rest-graphql-bridge', 'src'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (run.error) throw run.error;
  return run.status === 0 ? '' : `${run.stdout}${run.stderr}`;
}
