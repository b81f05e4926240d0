import path from 'node:path';
import type { Config } from '../../config.js';
import type { FileOwners } from '../../engines/file-owners.js';

/** Where it stands whose the server's files are. */
export function fileOwnersDirectory({ dataDir }: Pick<Config, 'dataDir'>): string {
  return path.join(dataDir, 'file-owners');
}

/** The server's files as one workspace may use them. */
export function fileOwners(config: Pick<Config, 'dataDir'>, workspaceId: string): FileOwners {
  return { directory: fileOwnersDirectory(config), workspaceId };
}
