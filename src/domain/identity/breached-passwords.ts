import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';

const HASH_LENGTH = 40;
/** The longest line of the list: hash, colon, count, CR LF, and some to spare. */
const LINE_BYTES = 64;
const LF = 10;

/**
 * Whether a password is in a list of SHA-1 hashes, sorted, one in each line, with or without `:count`: the form in which
 * haveibeenpwned.com/Passwords is downloaded. Thirty reads of 64 bytes find one of its two billion lines.
 * @throws Error when the file can't be read or is not such a list
 */
export async function isBreached(listFile: string, password: string): Promise<boolean> {
  const wanted = createHash('sha1').update(password).digest('hex').toUpperCase();
  const list = await open(listFile);
  try {
    let low = 0;
    let high = (await list.stat()).size;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const line = await lineFrom(list, middle);
      if (line === undefined || line.start >= high) {
        high = middle;
        continue;
      }
      if (!/^[0-9A-F]{40}$/.test(line.hash))
        throw new Error(`${listFile} is not a sorted list of SHA-1 hashes, one in each line`);
      if (line.hash === wanted) return true;
      if (line.hash < wanted) low = line.start + HASH_LENGTH;
      else high = middle;
    }
    return false;
  } finally {
    await list.close();
  }
}

/** The first line that begins at this offset or after it; undefined when none does. */
async function lineFrom(
  list: FileHandle,
  offset: number,
): Promise<{ start: number; hash: string } | undefined> {
  const from = Math.max(0, offset - 1);
  const { buffer, bytesRead } = await list.read(Buffer.alloc(2 * LINE_BYTES), 0, 2 * LINE_BYTES, from);
  const bytes = buffer.subarray(0, bytesRead);
  const skipped = offset === 0 ? 0 : bytes.indexOf(LF) + 1;
  if ((offset > 0 && skipped === 0) || skipped >= bytes.length) return undefined;
  const hash = bytes.subarray(skipped, skipped + HASH_LENGTH).toString('latin1');
  return { start: from + skipped, hash: hash.toUpperCase() };
}
