import type { IncomingMessage } from 'node:http';

/** Whose document describes the request: /v1 is the ITSM one, everything else speaks as the platform does. */
export type Surface = 'itsm' | 'platform';

export function surfaceOf(request: IncomingMessage): Surface {
  return isBelow(pathOf(request), '/v1') ? 'itsm' : 'platform';
}

export function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 47);
}

/** The path as it was sent, without query. Express rewrites `url` below a mount point and keeps `originalUrl`. */
export function pathOf(request: IncomingMessage & { originalUrl?: string }): string {
  const target = request.originalUrl ?? request.url ?? '/';
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}
