import { maskText } from './mask-text.js';
import { SENTINEL } from './sentinel.js';

/** Characters of one string; a longer one is replaced as a whole, wherever the pieces are cut. */
const MAX_LITERAL = 1_048_576;
const REPLACED = JSON.stringify(SENTINEL);
/** Without these a literal holds nothing, escaped or not. */
const MAY_HOLD = /[@+\\]|%40|\d{2}/;
const BEHIND_LITERAL = /[^ \t\r\n]/g;

/**
 * Masks the strings of JSON text that comes in pieces. Everything else keeps its very characters: names of properties,
 * numbers (which JSON.parse would round), white space. Also takes several values in a row, as NDJSON has them.
 */
export class JsonMasker {
  /** From a quotation mark on, until it is known what follows the string: a colon makes it a name. */
  #held = '';
  /** In a string that was too long and is already replaced. */
  #skipping = false;

  /** @returns what of the text so far can be passed on */
  push(text: string): string {
    const all = this.#held + text;
    this.#held = '';
    let done = '';
    let at = 0;
    if (this.#skipping) {
      at = endOfLiteral(all, 0);
      if (at === -1) return this.#skip(all);
      this.#skipping = false;
    }
    for (;;) {
      const start = all.indexOf('"', at);
      if (start === -1) return done + all.slice(at);
      done += all.slice(at, start);
      const end = endOfLiteral(all, start + 1);
      const next = end === -1 ? undefined : characterFrom(all, end);
      if (next === undefined) return done + this.#hold(all, start, end);
      const literal = all.slice(start, end);
      if (literal.length > MAX_LITERAL) done += REPLACED;
      else done += next === ':' ? literal : maskLiteral(literal);
      at = end;
    }
  }

  /** @returns the rest, once nothing more comes */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return this.#skipping ? '' : maskLiteral(rest);
  }

  #hold(all: string, start: number, end: number): string {
    if (end !== -1 || all.length - start <= MAX_LITERAL) {
      this.#held = all.slice(start);
      return '';
    }
    this.#skipping = true;
    return REPLACED + this.#skip(all);
  }

  /** Keeps the backslashes at the end: one of them may escape a quotation mark that is still to come. */
  #skip(all: string): string {
    this.#held = /\\*$/.exec(all.slice(-2))?.[0].length === 1 ? '\\' : '';
    return '';
  }
}

/** Whole JSON text at once. */
export function maskJson(text: string): string {
  const masker = new JsonMasker();
  return masker.push(text) + masker.end();
}

/** A message that may be JSON or not, such as the data of a server-sent event. */
export function maskMessage(text: string): string {
  return isJson(text) ? maskJson(text) : maskText(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Behind the closing quotation mark; -1 when it is not there yet. */
function endOfLiteral(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (quote - backslashes > from && text.charAt(quote - backslashes - 1) === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
  return -1;
}

function characterFrom(text: string, from: number): string | undefined {
  BEHIND_LITERAL.lastIndex = from;
  return BEHIND_LITERAL.exec(text)?.[0];
}

function maskLiteral(literal: string): string {
  if (!MAY_HOLD.test(literal)) return literal;
  try {
    const value = JSON.parse(literal) as string;
    const masked = maskText(value);
    return masked === value ? literal : JSON.stringify(masked);
  } catch {
    return maskText(literal);
  }
}
