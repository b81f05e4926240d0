import { randomUUID } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Lets `write` fill a temporary file beside `path`, then makes it durable and puts it in place in one step:
 * a reader sees the old file or the whole new one, also after a power cut. Returns the size in bytes.
 * The temporary name is unique, so two attempts at the same file do not disturb each other.
 */
export async function writeDurably(
  path: string,
  write: (temporaryPath: string) => Promise<void>,
): Promise<number> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    await write(temporary);
    await flush(temporary);
    const { size } = await stat(temporary);
    await rename(temporary, path);
    await flush(dirname(path));
    return size;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Of a file its content, of a directory its names: there after a power cut as well. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
