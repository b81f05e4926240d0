import { maskMessage } from './json-masker.js';

/** Characters of one line that are waited for. */
const MAX_LINE = 1_048_576;
/** Not the m flag: it also breaks lines at U+2028, which server-sent events don't. */
const DATA = /(^|[\r\n])(data: ?)([^\r\n]*)/g;

/** Masks the data of server-sent events that come in pieces (HTML Standard, section 9.2). Event names and ids stay. */
export class EventMasker {
  #line = '';

  /** @returns the lines that are complete. @throws RangeError when one does not end within 1 MiB */
  push(text: string): string {
    const all = this.#line + text;
    const cut = Math.max(all.lastIndexOf('\n'), all.lastIndexOf('\r')) + 1;
    this.#line = all.slice(cut);
    if (this.#line.length > MAX_LINE) throw new RangeError('A line of the event stream is longer than 1 MiB');
    return maskLines(all.slice(0, cut));
  }

  end(): string {
    const rest = this.#line;
    this.#line = '';
    return maskLines(rest);
  }
}

function maskLines(lines: string): string {
  return lines.replace(
    DATA,
    (_line, before: string, name: string, data: string) => before + name + maskMessage(data),
  );
}
