import { join } from 'node:path';

/** Where one engine process spills; the server process removes it when that process cannot. */
export function spillDirectory(runDirectory: string, pid: number | undefined): string {
  return join(runDirectory, `.spill-${pid}`);
}
