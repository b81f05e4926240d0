import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import type { DefinitionError } from './pipeline-definition.js';
import { yamlProblems } from './yaml-problems.js';

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
/** With what aliases stand for. A text of 1 MiB has less without them, and each value is looked at many times. */
const MAX_VALUES = 500_000;

/** Reads YAML 1.2 with the core schema: no custom tags, no merge keys, no duplicate keys. Never throws on its text. */
export function readYaml(written: string): ReadYaml {
  const source = written.replace(/^\uFEFF/, '');
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
    uniqueKeys: false,
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
  problems.push(...yamlProblems(document).map(({ offset, message }) => at(offset, message)));
  if (problems.length > 0) return { ok: false, errors: problems };
  const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
  if (!hasAtMost(MAX_VALUES, value))
    return refused('The definition has too many values, with those its aliases repeat.');
  const error = (message: string, path: Path, key?: string) =>
    at(offsetOf(document.contents, document, path, key), message, key === undefined ? path : [...path, key]);
  const errorAt = (message: string, path: Path, raw: string, nth: number) =>
    at(occurrence(source, offsetOf(document.contents, document, path, undefined), raw, nth), message, path);
  return { ok: true, text: { value, error, errorAt } };
}

function hasAtMost(count: number, value: unknown): boolean {
  const waiting = [value];
  for (let seen = 0; waiting.length > 0; seen += 1) {
    if (seen > count) return false;
    const next = waiting.pop();
    if (typeof next === 'object' && next !== null) for (const part of Object.values(next)) waiting.push(part);
  }
  return true;
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
  const child: unknown = isMap(parent)
    ? pairOf(parent, String(step))?.value
    : isSeq(parent) && parent.items[Number(step)];
  return isNode(child) ? child : undefined;
}

function resolved(node: Node | undefined, document: YamlDocument): Node | undefined {
  return isAlias(node) ? node.resolve(document) : node;
}

function keyOffset(node: Node | undefined, key: string): number | undefined {
  const found = isMap(node) ? pairOf(node, key)?.key : undefined;
  return isScalar(found) ? found.range?.[0] : undefined;
}

const pairs = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();

/** yaml looks through all keys for each: a map of 60,000 unknown ones took minutes. */
function pairOf(map: YAMLMap, key: string): Pair | undefined {
  const known =
    pairs.get(map) ??
    new Map(map.items.map((pair) => [String(isScalar(pair.key) ? pair.key.value : pair.key), pair]));
  pairs.set(map, known);
  return known.get(key);
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
