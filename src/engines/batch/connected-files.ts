import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../engine-error.js';
import type { FileSourceSpec } from '../task-spec.js';
import type { FileRules } from './file-paths.js';
import { downloadObjects } from './s3-files.js';
import { isNamedAs, sourceFiles } from './source-files.js';
import type { TaskContext } from './task-context.js';

/** Lends the files that the source means, wherever they are; what was downloaded is gone afterwards. */
export async function withSourceFiles<T>(
  context: TaskContext,
  spec: FileSourceSpec,
  work: (files: string[]) => Promise<T>,
): Promise<T> {
  const target = context.connection;
  if (spec.connection === undefined) return work(await sourceFiles(spec, context.options));
  if (target?.type !== 'file')
    throw new EngineError('CONNECTION', `Task ${context.task.id} needs a connection of type file.`);
  if (target.storage === 'local') return work(await sourceFiles(spec, rulesOf(target.root, context)));
  const directory = await mkdtemp(join(context.options.runDirectory, `${context.task.id}.`));
  try {
    const wanted = (name: string) => isNamedAs(spec.format, name);
    return await work(await downloadObjects(context, target, spec.path, directory, wanted));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A connection's paths start at its root, whatever the server's other roots are. */
export function rulesOf(root: string, { options: { fileOwners } }: TaskContext): FileRules {
  return { filesBase: root, filesRoots: [root], ...(fileOwners && { fileOwners }) };
}
