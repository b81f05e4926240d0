import type { Span } from './span.js';

/** RFC 5321 section 4.5.3.1, octets of the local part and of the domain; they also bound the work for one "@". */
const MAX_LOCAL = 64;
const MAX_DOMAIN = 255;

const AT = /@|%40/g;
/** Less than RFC 5322 allows: "=", "/" or a quotation mark before an address is almost always not part of it. */
const LOCAL = /[\p{L}\p{N}_][\p{L}\p{N}\p{M}._%+'-]*$/u;
/** Names with a dot, the last of letters, so that pkg@1.2.3 and user@localhost are none (RFC 3696 section 2). */
const DOMAIN = /^(?:[\p{L}\p{N}][\p{L}\p{N}\p{M}-]*\.)+(?:xn--[a-z0-9-]+|\p{L}[\p{L}\p{M}]+)/iu;

/** E-mail addresses, internationalised ones (RFC 6531) and those with an URL's %40 as well. */
export function findEmails(text: string): Span[] {
  const spans: Span[] = [];
  for (const { index, 0: sign } of text.matchAll(AT)) {
    const behind = index + sign.length;
    const domain = DOMAIN.exec(text.slice(behind, behind + MAX_DOMAIN))?.[0];
    const local = domain && LOCAL.exec(text.slice(Math.max(0, index - MAX_LOCAL), index))?.[0];
    if (domain && local) spans.push({ start: index - local.length, end: behind + domain.length });
  }
  return spans;
}
