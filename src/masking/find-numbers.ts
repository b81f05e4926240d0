import { isCard } from './card.js';
import { isPesel } from './pesel.js';
import { type Span, standsAlone } from './span.js';

/** Cards are printed in groups of three (the end of 19 digits) to six (the middle of American Express). */
const GROUP = /\d{3,}/g;
const MAX_PRINTED_GROUP = 6;
const MIN_CARD = 12;
const MAX_CARD = 19;
const PESEL_DIGITS = 11;
const SEPARATORS = new Set([' ', '\u00a0', '-']);

interface Group extends Span {
  readonly digits: string;
}

/** Payment-card numbers (an issuer's range and length, Luhn) and PESEL numbers. */
export function findNumbers(text: string): Span[] {
  const groups: Group[] = [];
  for (const { index, 0: digits } of text.matchAll(GROUP)) {
    groups.push({ start: index, end: index + digits.length, digits });
  }
  const spans: Span[] = [];
  for (let first = 0; first < groups.length; first += 1) {
    const found = numberFrom(text, groups, first);
    if (!found) continue;
    spans.push(found);
    while ((groups[first + 1]?.start ?? Number.POSITIVE_INFINITY) < found.end) first += 1;
  }
  return spans;
}

function numberFrom(text: string, groups: readonly Group[], first: number): Span | undefined {
  const single = groups[first];
  if (!single || single.digits.length > MAX_CARD) return undefined;
  const { start } = single;
  if (single.digits.length > MAX_PRINTED_GROUP) {
    const personal = single.digits.length === PESEL_DIGITS ? isPesel(single.digits) : isCard(single.digits);
    return personal && standsAlone(text, single) ? single : undefined;
  }
  let digits = '';
  let previous: Group | undefined;
  for (let at = first; at < groups.length; at += 1) {
    const group = groups[at];
    if (!group || group.digits.length > MAX_PRINTED_GROUP || !follows(text, previous, group))
      return undefined;
    digits += group.digits;
    previous = group;
    if (digits.length > MAX_CARD) return undefined;
    const span = { start, end: group.end };
    if (digits.length >= MIN_CARD && isCard(digits) && standsAlone(text, span)) return span;
  }
  return undefined;
}

function follows(text: string, previous: Group | undefined, group: Group): boolean {
  if (!previous) return true;
  return group.start === previous.end + 1 && SEPARATORS.has(text.charAt(previous.end));
}
