import { EngineError } from '../engine-error.js';
import type { HttpPaging } from '../task-spec.js';
import { isRaw } from './exact-json.js';

/** One answer, as far as paging goes. */
export interface Page {
  /** Where it came from. */
  url: URL;
  rows: number;
  body: unknown;
  link: string | undefined;
}

/** The query parameters that the first page is asked with. */
export function firstParameters(paging: HttpPaging | undefined): Record<string, string> {
  if (paging?.kind === 'page') return { [paging.parameter]: String(paging.start ?? 1), ...sizeOf(paging) };
  if (paging?.kind === 'offset') return { [paging.parameter]: '0', ...sizeOf(paging) };
  return {};
}

function sizeOf(paging: { sizeParameter?: string; size?: number }): Record<string, string> {
  return paging.sizeParameter !== undefined && paging.size !== undefined
    ? { [paging.sizeParameter]: String(paging.size) }
    : {};
}

/**
 * Gives the address of the page that follows each; undefined after the last. Throws EngineError SOURCE when it leads
 * elsewhere, or to where it has been.
 */
export function pager(paging: HttpPaging | undefined): (page: Page) => URL | undefined {
  const asked = new Set<string>();
  return (page) => {
    asked.add(page.url.href);
    const next = nextPage(paging, page);
    if (!next || !asked.has(next.href)) return next;
    const problem = `The server gave the same ${paging?.kind} twice, so the paging would never end.`;
    throw new EngineError('SOURCE', problem);
  };
}

function nextPage(paging: HttpPaging | undefined, page: Page): URL | undefined {
  switch (paging?.kind) {
    case undefined:
      return undefined;
    case 'page': {
      if (page.rows === 0 || (paging.size !== undefined && page.rows < paging.size)) return undefined;
      return withParameter(page.url, paging.parameter, (value) => String(Number(value) + 1));
    }
    case 'offset': {
      // A page shorter than `size` need not be the last: servers have limits of their own.
      if (page.rows === 0) return undefined;
      return withParameter(page.url, paging.parameter, (value) => String(Number(value) + page.rows));
    }
    case 'cursor':
      return afterCursor(page, paging.parameter, pointed(page.body, paging.path));
    case 'link':
      return linked(page);
  }
}

function withParameter(url: URL, name: string, change: (value: string) => string): URL {
  const next = new URL(url);
  next.searchParams.set(name, change(url.searchParams.get(name) ?? '0'));
  return next;
}

function afterCursor({ url }: Page, parameter: string, cursor: unknown): URL | undefined {
  if (cursor === undefined || cursor === null || cursor === '' || cursor === false) return undefined;
  const text = isRaw(cursor) ? cursor.rawJSON : cursor;
  if (typeof text === 'object')
    throw new EngineError('SOURCE', 'The next cursor is neither text nor number.');
  return withParameter(url, parameter, () => String(text));
}

/** The request carries credentials, so a page is only fetched where they belong. */
function linked({ url, link }: Page): URL | undefined {
  const target = nextLink(link ?? '');
  if (target === undefined) return undefined;
  const next = URL.canParse(target, url.href) ? new URL(target, url) : undefined;
  if (next?.origin !== url.origin) {
    throw new EngineError('SOURCE', "The next page's link leads to another origin than the connection's.");
  }
  return next;
}

const LINK = /<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]+))?)*)/g;

/** The target of rel=next in a Link header (RFC 8288). */
function nextLink(header: string): string | undefined {
  for (const [, target, parameters = ''] of header.matchAll(LINK)) {
    const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters);
    const names = (relation?.[1] ?? relation?.[2] ?? '').toLowerCase().split(/\s+/);
    if (names.includes('next')) return target;
  }
  return undefined;
}

/** What a JSON Pointer (RFC 6901) points at; undefined when there is nothing. */
export function pointed(body: unknown, pointer: string): unknown {
  let found: unknown = body;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}
