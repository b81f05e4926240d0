import type { IncomingMessage } from 'node:http';

/** Express strips a mount point from `url`; the rows' paths are whole. */
function urlOf(request: IncomingMessage): string {
  const url = (request as { originalUrl?: string }).originalUrl ?? request.url ?? '/';
  return url.startsWith('/') ? url : withoutAuthority(url);
}

/** RFC 9112 section 3.2.2: a server must accept the absolute form, though only proxies are sent it. */
function withoutAuthority(url: string): string {
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(url)?.[1] ?? url;
  return path.startsWith('?') || path === '' ? `/${path}` : path;
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
