import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Where a module of the product lies compiled, for whoever starts it in a thread or process of its own: this one may
 * itself be source under test or part of a bundle, so the way leads up to the package.
 * @param name path below dist
 * @throws Error when the product is not built
 */
export function compiledModule(name: string): string {
  for (let directory = import.meta.dirname; ; directory = dirname(directory)) {
    const entry = join(directory, 'dist', name);
    if (existsSync(entry)) return entry;
    if (directory === dirname(directory)) {
      throw new Error(`dist/${name} is missing: run "npm run build" first.`);
    }
  }
}
