import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import type { DefinitionError } from './pipeline-definition.js';

export type Path = readonly (string | number)[];

/** A definition that reads as YAML: its plain value, and the place of each part. */
export interface YamlText {
  value: unknown;
  /** An error at the part under `path`, or at its nearest ancestor that exists; `key` points at a map's key instead. */
  error(message: string, path: Path, key?: string): DefinitionError;
  /** An error at the `nth` (from 0) occurrence of `raw` in the text under `path`. */
  errorAt(message: string, path: Path, raw: string, nth: number): DefinitionError;
}

export type ReadYaml = { ok: true; text: YamlText } | { ok: false; errors: DefinitionError[] };

const MAX_BYTES = 1024 * 1024;
/** Ten thousand anchors of one row each are no attack, nested anchors are; yaml multiplies along nested aliases. */
const MAX_ALIASES = 100;

/** Reads YAML 1.2 with the core schema: no custom tags, no merge keys, no duplicate keys. Never throws on its text. */
export function readYaml(source: string): ReadYaml {
  if (Buffer.byteLength(source) > MAX_BYTES) return refused('The definition is larger than 1 MiB.');
  try {
    return parse(source);
  } catch (error) {
    if (error instanceof RangeError) return refused('The definition is nested too deeply.');
    if (error instanceof ReferenceError) return refused('The definition uses more aliases than are allowed.');
    throw error;
  }
}

function parse(source: string): ReadYaml {
  const lines = new LineCounter();
  const document = parseDocument(source, {
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: true,
    stringKeys: true,
    prettyErrors: false,
    lineCounter: lines,
  });
  const at = (offset: number, message: string, path: Path = []): DefinitionError => {
    const { line, col } = lines.linePos(Math.min(offset, source.length));
    return { message, line: Math.max(line, 1), column: Math.max(col, 1), path: pathText(path) };
  };
  // yaml turns its own stack overflow into an error for each bracket.
  if (document.errors.some(({ message }) => message.includes('call stack'))) {
    return refused('The definition is nested too deeply.');
  }
  // An unknown tag is only a warning to yaml, but means something this format does not have.
  const problems = [...document.errors, ...document.warnings].map(({ pos, message }) =>
    at(pos[0], `YAML: ${message}`),
  );
  visit(document, {
    Scalar: (_, node) => {
      const problem = numberProblem(node.value, node.source);
      if (problem) problems.push(at(node.range?.[0] ?? 0, problem));
    },
  });
  if (problems.length > 0) return { ok: false, errors: problems };
  const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
  const error = (message: string, path: Path, key?: string) =>
    at(offsetOf(document.contents, document, path, key), message, key === undefined ? path : [...path, key]);
  const errorAt = (message: string, path: Path, raw: string, nth: number) =>
    at(occurrence(source, offsetOf(document.contents, document, path, undefined), raw, nth), message, path);
  return { ok: true, text: { value, error, errorAt } };
}

/** JSON, which the engine speaks, has neither; and a rounded number would be a wrong number. */
function numberProblem(value: unknown, source: string | undefined): string | undefined {
  if (typeof value !== 'number') return undefined;
  if (!Number.isFinite(value)) return 'NaN and infinity cannot be used.';
  const digits = source !== undefined && /^[-+]?\d+$/.test(source);
  return digits && !Number.isSafeInteger(value)
    ? `${source} is too large for an exact number: put it in quotes.`
    : undefined;
}

/** An escape or an alias may spell the text differently; then the place it begins at has to do. */
function occurrence(source: string, start: number, raw: string, nth: number): number {
  let offset = source.indexOf(raw, start);
  for (let skipped = 0; skipped < nth && offset >= 0; skipped += 1) offset = source.indexOf(raw, offset + 1);
  return offset < 0 ? start : offset;
}

type YamlDocument = ReturnType<typeof parseDocument>;

function offsetOf(root: Node | null, document: YamlDocument, path: Path, key: string | undefined): number {
  let node: Node | undefined = root ?? undefined;
  let offset = node?.range?.[0] ?? 0;
  for (const step of path) {
    const next = childOf(node, document, step);
    if (!next) return offset;
    node = next;
    // The parts of an alias lie at its anchor, the alias itself where it stands.
    offset = next.range?.[0] ?? offset;
  }
  return key === undefined ? offset : (keyOffset(resolved(node, document), key) ?? offset);
}

function childOf(node: Node | undefined, document: YamlDocument, step: string | number): Node | undefined {
  const parent = resolved(node, document);
  const child: unknown = isCollection(parent) ? parent.get(step, true) : undefined;
  return isNode(child) ? child : undefined;
}

function resolved(node: Node | undefined, document: YamlDocument): Node | undefined {
  return isAlias(node) ? node.resolve(document) : node;
}

function keyOffset(node: Node | undefined, key: string): number | undefined {
  if (!isMap(node)) return undefined;
  const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
  return isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
}

function refused(message: string): ReadYaml {
  return { ok: false, errors: [{ message, line: 1, column: 1, path: '' }] };
}

/** `transformations[0].inputs[1]` */
function pathText(path: Path): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');
}
