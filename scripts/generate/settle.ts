import { globSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Brings files to the given texts, or with `check` only says which ones differ.
 * @param owned glob of the files that may exist at all; one without a text is a leftover and is removed.
 * @returns names of the files that differed, relative to `root`.
 */
export async function settle(
  root: string,
  owned: string,
  texts: ReadonlyMap<string, string>,
  check: boolean,
): Promise<string[]> {
  const differing: string[] = [];
  for (const [name, text] of texts) {
    const file = path.join(root, name);
    if ((await readIfThere(file)) === text) continue;
    differing.push(name);
    if (check) continue;
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  for (const found of globSync(owned, { cwd: root })) {
    const name = found.replaceAll(path.sep, '/');
    if (texts.has(name)) continue;
    differing.push(name);
    if (!check) await rm(path.join(root, name));
  }
  return differing;
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
