/** A piece of a text, the end exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const ALPHANUMERIC = /[A-Za-z0-9]/;
const DIGIT = /[0-9]/;
/** In JSON inside a string, `\n4111...` is a line break and a number, not a word that begins with n. */
const ESCAPED = /\\[nrtbf]/;

/** Whether a number that stands at these positions is one of its own: no part of a word or of a decimal number. */
export function standsAlone(text: string, { start, end }: Span): boolean {
  return startsWord(text, start) && endsWord(text, end);
}

function startsWord(text: string, at: number): boolean {
  const before = text.charAt(at - 1);
  if (before === '.') return !DIGIT.test(text.charAt(at - 2));
  return !ALPHANUMERIC.test(before) || ESCAPED.test(text.slice(Math.max(0, at - 2), at));
}

function endsWord(text: string, at: number): boolean {
  const after = text.charAt(at);
  return after === '.' ? !DIGIT.test(text.charAt(at + 1)) : !ALPHANUMERIC.test(after);
}
