import { randomUUID } from 'node:crypto';
import {
  DefaultIntrinsics,
  getQuickJS,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
} from 'quickjs-emscripten';
import { DRIVER } from './sandbox-driver.js';
import { markWide, unmarkWide } from './wide-json.js';

/**
 * Of a value that is not what it is in JSON, or holds such ones: integers that may be beyond 2^53 and numbers that may not
 * be finite come as text, and the former within JSON as marked text.
 */
export type Kind =
  | 'integer'
  | 'double'
  | 'json'
  | { each: Kind }
  | { fields: readonly { name: string; kind: Kind }[] };

export interface SandboxStart {
  code: string;
  /** Of the input; errors show their names. */
  columns: readonly string[];
  /** Of a row; undefined when all its values are what they are in JSON. */
  kind: Kind | undefined;
}

export interface Batch {
  /** NDJSON. */
  lines: string;
  rows: number;
  found: FoundColumns;
}

/** What a batch showed of the columns of the result. */
export interface FoundColumns {
  /** Those that no batch before had. */
  names: readonly string[];
  /** Those with numbers that are not finite, which come as text. */
  unbounded: readonly string[];
}

/** An error in the author's code, told without any value of a row. */
export class AuthorError extends Error {
  override readonly name = 'AuthorError';
  /** Of the batch, from 0; undefined where no row was there yet. */
  readonly row: number | undefined;

  constructor(message: string, row: number | undefined) {
    super(message);
    this.row = row;
  }
}

export const MEMORY_BYTES = 64 * 1024 * 1024;
const TOO_LARGE = `The code needs more than ${MEMORY_BYTES / 1024 / 1024} MiB`;
const STACK_BYTES = 256 * 1024;
const ROW_LIMIT_MS = 1_000;
/** Of all that is evaluated once, outside of a row. */
const START_LIMIT_MS = 1_000;
const FILE = 'transform.js';
const PLACE = new RegExp(`${FILE.replace('.', '\\.')}:(\\d+)`);

/** What the interpreter says by itself; a name in it is shown when it stands in the author's code. */
const OWN_MESSAGES: readonly RegExp[] = [
  /^cannot (?:read|set) property '(.*)' of (?:undefined|null)$/,
  /^'?(.*?)'? is (?:not defined|not initialized|read-only)$/,
];
const OWN_SENTENCES =
  /^(not a function|cannot convert [a-z]+ to [a-z]+|stack overflow|Maximum call stack size exceeded|cannot mix bigint .*|circular reference)$/i;
/** What the driver says of a returned value. */
const ROW_FAULTS =
  /^(is not a row|is a promise; transform must not be async|holds a (function|symbol)|holds text that is no Unicode \(half of a surrogate pair\)|has a column (without a name|whose name (holds U\+0000|is no Unicode \(half of a surrogate pair\)|differs from that of another by case alone)))$/;
const KNOWN_NAMES = new Set([
  'TypeError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'EvalError',
  'InternalError',
]);

/**
 * QuickJS in WebAssembly: an interpreter in whose world there is no process, network, file, clock, randomness or module.
 * One instance sees all batches of a task in order, so variables of the author's live from row to row.
 */
export class Sandbox {
  readonly #code: string;
  readonly #columns: readonly string[];
  /** Seen by no code of the author's, whose result is therefore the same whatever it is. */
  readonly #mark = `${randomUUID()} `;
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  #run: QuickJSHandle | undefined;
  #progress: QuickJSHandle | undefined;
  #deadline = 0;
  #row = -1;
  #timedOut = false;

  private constructor(quickjs: QuickJSWASMModule, code: string, columns: readonly string[]) {
    this.#code = code;
    this.#columns = columns;
    this.#runtime = quickjs.newRuntime();
    this.#runtime.setMemoryLimit(MEMORY_BYTES);
    this.#runtime.setMaxStackSize(STACK_BYTES);
    this.#runtime.setInterruptHandler(() => this.#isOverdue());
    this.#context = this.#runtime.newContext({ intrinsics: { ...DefaultIntrinsics, Date: false } });
  }

  /** @throws AuthorError when the code cannot be read or defines no function `transform` */
  static async open({ code, kind, columns }: SandboxStart): Promise<Sandbox> {
    const sandbox = new Sandbox(await getQuickJS(), code, columns);
    sandbox.#load(kind);
    return sandbox;
  }

  /** Reads the code and runs nothing of it. @throws AuthorError when it cannot be read */
  static async parse(code: string): Promise<void> {
    const sandbox = new Sandbox(await getQuickJS(), code, []);
    sandbox.#deadline = Date.now() + START_LIMIT_MS;
    const context = sandbox.#context;
    const result = context.evalCode(code, FILE, { type: 'global', compileOnly: true });
    const error = result.error && asError(context.dump(result.error));
    result.dispose();
    context.dispose();
    sandbox.#runtime.dispose();
    if (!error) return;
    const { name, message, stack } = error;
    if (name !== 'SyntaxError') throw new Error(`${name}: ${message}`);
    throw new AuthorError(`${name} in line ${PLACE.exec(stack)?.[1] ?? 1}: ${message}`, undefined);
  }

  #load(kind: Kind | undefined): void {
    const context = this.#context;
    this.#deadline = Date.now() + START_LIMIT_MS;
    const driver = this.#unwrap(context.evalCode(DRIVER, 'driver.js'), undefined);
    this.#unwrap(context.evalCode(this.#code, FILE, { type: 'global' }), undefined).dispose();
    const transform = this.#unwrap(
      context.evalCode("typeof transform === 'function' ? transform : undefined", 'driver.js'),
      undefined,
    );
    if (context.typeof(transform) !== 'function')
      throw new AuthorError('The code defines no function named transform', undefined);
    const described = this.#unwrap(context.evalCode(`(${JSON.stringify(kind)})`, 'driver.js'), undefined);
    const mark = context.newString(this.#mark);
    const made = this.#unwrap(
      context.callFunction(driver, context.undefined, transform, described, mark),
      undefined,
    );
    this.#run = context.getProp(made, 'run');
    this.#progress = context.getProp(made, 'progress');
    for (const handle of [driver, transform, described, mark, made]) handle.dispose();
  }

  /** `text` is a JSON array of rows. @throws AuthorError */
  transform(text: string): Batch {
    const context = this.#context;
    this.#row = -1;
    this.#timedOut = false;
    this.#deadline = Date.now() + ROW_LIMIT_MS;
    const argument = context.newString(markWide(text, this.#mark));
    if (!this.#run) throw new Error('The sandbox was not loaded.');
    const result = context.callFunction(this.#run, context.undefined, argument);
    argument.dispose();
    const lines = this.#unwrap(result, () => this.#number('row'));
    const copy = context.getString(lines);
    lines.dispose();
    // Without room for its copy the interpreter gives an empty text, and no error.
    if (copy.length !== this.#number('length')) throw new AuthorError(TOO_LARGE, undefined);
    return {
      lines: unmarkWide(copy, this.#mark),
      rows: this.#number('count'),
      found: JSON.parse(this.#text('found')),
    };
  }

  /** Asked by the interpreter every few thousand steps. The limit begins anew with each row. */
  #isOverdue(): boolean {
    const now = Date.now();
    if (this.#progress) {
      const row = this.#number('row');
      if (row !== this.#row) {
        this.#row = row;
        this.#deadline = now + ROW_LIMIT_MS;
      }
    }
    this.#timedOut ||= now > this.#deadline;
    return this.#timedOut;
  }

  #number(name: string): number {
    if (!this.#progress) throw new Error('The sandbox was not loaded.');
    const handle = this.#context.getProp(this.#progress, name);
    const number = this.#context.getNumber(handle);
    handle.dispose();
    return number;
  }

  #text(name: string): string {
    if (!this.#progress) throw new Error('The sandbox was not loaded.');
    const handle = this.#context.getProp(this.#progress, name);
    const text = this.#context.getString(handle);
    handle.dispose();
    return text;
  }

  #unwrap(result: ReturnType<QuickJSContext['evalCode']>, row: (() => number) | undefined): QuickJSHandle {
    if (!result.error) return result.value;
    const dumped: unknown = this.#context.dump(result.error);
    result.error.dispose();
    throw new AuthorError(this.#describe(dumped), row?.());
  }

  #describe(error: unknown): string {
    if (this.#timedOut) return `The code ran for longer than ${ROW_LIMIT_MS / 1000} s`;
    const { name, message, stack } = asError(error);
    if (name === 'InternalError' && message === 'out of memory') return TOO_LARGE;
    const line = PLACE.exec(stack)?.[1];
    const place = line === undefined ? '' : ` in line ${line}`;
    if (ROW_FAULTS.test(message)) return `What transform returned ${message}${this.#faultyColumn()}${place}`;
    const shown = this.#isWithoutValues(message) ? `: ${message}` : '';
    return `${KNOWN_NAMES.has(name) ? name : 'Error'}${place}${shown}`;
  }

  /** A name that code made may be made of a row's values. */
  #faultyColumn(): string {
    const column = this.#progress ? this.#text('column') : '';
    const isKnown = this.#columns.includes(column) || this.#code.includes(column);
    return column !== '' && isKnown ? ` in the column "${column}"` : '';
  }

  /** A message of the author's may be made of a row's values; what stands in their code as it is, is not. */
  #isWithoutValues(message: string): boolean {
    if (message === '') return false;
    if (this.#code.includes(message) || OWN_SENTENCES.test(message)) return true;
    return OWN_MESSAGES.some((pattern) => {
      const name = pattern.exec(message)?.[1];
      return name !== undefined && this.#code.includes(name);
    });
  }
}

function asError(value: unknown): { name: string; message: string; stack: string } {
  const fields = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  const text = (field: string) => (typeof fields[field] === 'string' ? fields[field] : '');
  return { name: text('name'), message: text('message'), stack: text('stack') };
}
