import type { IncomingMessage } from 'node:http';

/** Express strips a mount point from `url`; the rows' paths are whole. */
function urlOf(request: IncomingMessage): string {
  return (request as { originalUrl?: string }).originalUrl ?? request.url ?? '/';
}

export function pathOf(request: IncomingMessage): string {
  const url = urlOf(request);
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

/** The query string without its question mark. */
export function searchOf(request: IncomingMessage): string {
  const url = urlOf(request);
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}
