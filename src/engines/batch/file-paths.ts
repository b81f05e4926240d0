import { lstat, mkdir, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { EngineError, type EngineErrorKind } from '../engine-error.js';
import { claimFile, type FileOwners, mayRead } from '../file-owners.js';

/** A relative path stays below `filesBase`; an absolute one below one of `filesRoots`. Links are followed before judging. */
export interface FileRules {
  filesBase: string;
  filesRoots: readonly string[];
  /** Whose the files are that runs have written. */
  fileOwners?: FileOwners;
}

/** More files than this in one directory are a mistake or want a table format. */
const MAX_FILES = 10_000;

/**
 * The real paths of the files a source means: the file itself, or for a directory its files whose names pass `wanted`.
 * Throws EngineError SOURCE.
 */
export async function readableFiles(
  path: string,
  rules: FileRules,
  wanted: (name: string) => boolean,
): Promise<string[]> {
  const roots = await allowedRoots(path, rules, 'SOURCE');
  const real = await realpath(resolve(rules.filesBase, path)).catch((cause: unknown) => {
    throw new EngineError('SOURCE', noFile(path), { cause });
  });
  assertBelow(real, roots, path, 'SOURCE');
  const info = await stat(real);
  if (info.isFile()) {
    if (await mayRead(rules.fileOwners, real)) return [real];
    throw new EngineError('SOURCE', noFile(path));
  }
  if (!info.isDirectory()) throw new EngineError('SOURCE', `"${path}" is neither a file nor a directory.`);
  return filesIn(real, roots, path, wanted, rules);
}

/** The same for one that another workspace has: that it is there is nobody else's business. */
const noFile = (path: string): string => `There is no file "${path}" that this workspace may read.`;

async function filesIn(
  directory: string,
  roots: readonly string[],
  path: string,
  wanted: (name: string) => boolean,
  { fileOwners }: FileRules,
): Promise<string[]> {
  const names = (await readdir(directory)).filter(wanted).sort();
  if (names.length > MAX_FILES)
    throw new EngineError('SOURCE', `The directory "${path}" has over ${MAX_FILES} files.`);
  const files: string[] = [];
  for (const name of names) {
    const real = await realpath(join(directory, name));
    assertBelow(real, roots, `${path}/${name}`, 'SOURCE');
    if ((await stat(real)).isFile() && (await mayRead(fileOwners, real))) files.push(real);
  }
  if (files.length === 0)
    throw new EngineError('SOURCE', `The directory "${path}" has no file of the source's format.`);
  return files;
}

/** The real path a target may write to, its parent directories made. Throws EngineError TARGET. */
export async function writablePath(path: string, rules: FileRules): Promise<string> {
  const roots = await allowedRoots(path, rules, 'TARGET');
  const wanted = resolve(rules.filesBase, path);
  const ancestor = await deepestExisting(dirname(wanted));
  assertBelow(ancestor.real, roots, path, 'TARGET', true);
  const parent = join(ancestor.real, ...ancestor.missing);
  await mkdir(parent, { recursive: true }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EEXIST' && cause.code !== 'ENOTDIR') throw cause;
    throw new EngineError('TARGET', `The directory of "${path}" cannot be made.`, { cause });
  });
  // Once more, now that it exists: somebody may have put a link there meanwhile.
  const real = await realpath(parent);
  assertBelow(real, roots, path, 'TARGET', true);
  const file = join(real, basename(wanted));
  const existing = await lstat(file).catch(() => undefined);
  if (existing?.isSymbolicLink())
    throw new EngineError('TARGET', `"${path}" is a link; a target is never written through one.`);
  assertBelow(file, roots, path, 'TARGET');
  return file;
}

/** Makes the file the workspace's own, to be called before it is written. Throws EngineError TARGET when it is another's. */
export async function claimPath(file: string, path: string, { fileOwners }: FileRules): Promise<void> {
  if (await claimFile(fileOwners, file)) return;
  throw new EngineError(
    'TARGET',
    `"${path}" is not a file that this workspace may write: it is another's, or a directory (of a target with mode APPEND?).`,
  );
}

async function deepestExisting(directory: string): Promise<{ real: string; missing: string[] }> {
  const missing: string[] = [];
  for (let current = directory; ; current = dirname(current)) {
    const real = await realpath(current).catch(() => undefined);
    if (real !== undefined) return { real, missing };
    if (current === dirname(current))
      throw new EngineError('TARGET', `The directory of "${directory}" cannot be made.`);
    missing.unshift(basename(current));
  }
}

async function allowedRoots(path: string, rules: FileRules, kind: EngineErrorKind): Promise<string[]> {
  if (path === '' || path.includes('\0'))
    throw new EngineError(kind, 'The path is empty or holds a NUL character.');
  if (isAbsolute(path)) {
    const found = await Promise.all(rules.filesRoots.map((root) => realpath(root).catch(() => undefined)));
    return found.filter((root) => root !== undefined);
  }
  await mkdir(rules.filesBase, { recursive: true });
  return [await realpath(rules.filesBase)];
}

function assertBelow(
  real: string,
  roots: readonly string[],
  path: string,
  kind: EngineErrorKind,
  orRootItself = false,
): void {
  if (
    roots.some(
      (root) => real.startsWith(root.endsWith(sep) ? root : root + sep) || (orRootItself && real === root),
    )
  ) {
    return;
  }
  const rule = isAbsolute(path)
    ? 'an absolute path must lie below one of FILES_ROOTS'
    : 'a relative path must stay below the files directory';
  throw new EngineError(kind, `"${path}" is outside the allowed directories: ${rule}, links included.`);
}
