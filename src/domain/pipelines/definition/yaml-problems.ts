import {
  type Alias,
  type Document,
  isCollection,
  isNode,
  isScalar,
  type Node,
  type Pair,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml';

export interface YamlProblem {
  message: string;
  /** Of the text. */
  offset: number;
}

/** Lists count once, maps twice. The parts of a run's tasks pass through parsers that would overflow far beyond. */
const MAX_STEPS = 200;

type Ancestors = readonly (Document | Node | Pair)[];

/** What reads as YAML and is still no part of this format. Linear, unlike what yaml itself has for keys and aliases. */
export function yamlProblems(document: Document): YamlProblem[] {
  const problems: YamlProblem[] = [];
  const anchors = new Set<string>();
  const tell = (node: unknown, message: string | undefined) => {
    if (message) problems.push({ message, offset: (isNode(node) && node.range?.[0]) || 0 });
  };
  visit(document, {
    Node: (_, node, path) => {
      if (path.length <= MAX_STEPS) return undefined;
      tell(node, 'The definition is nested too deeply.');
      return visit.BREAK;
    },
  });
  if (problems.length > 0) return problems;
  visit(document, {
    Alias: (_, node, path) => tell(node, aliasProblem(node, path, anchors)),
    Map: (_, map) => {
      if (map.anchor) anchors.add(map.anchor);
      for (const { key, message } of keyProblems(map)) tell(key, message);
    },
    Seq: (_, { anchor }) => void (anchor && anchors.add(anchor)),
    Scalar: (_, node) => {
      if (node.anchor) anchors.add(node.anchor);
      tell(node, scalarProblem(node));
    },
  });
  return problems;
}

function aliasProblem({ source }: Alias, path: Ancestors, anchors: ReadonlySet<string>): string | undefined {
  if (!anchors.has(source)) return `There is no "&${source}" before this.`;
  return path.some((ancestor) => isCollection(ancestor) && ancestor.anchor === source)
    ? `"*${source}" stands within what it stands for.`
    : undefined;
}

function keyProblems({ items }: YAMLMap): { key: unknown; message: string }[] {
  const seen = new Set<string>();
  return items.flatMap(({ key }) => {
    if (!isScalar(key)) return [];
    const name = String(key.value);
    if (seen.has(name)) return [{ key, message: `The key "${name}" stands here twice.` }];
    seen.add(name);
    return name === '<<' && key.type === 'PLAIN'
      ? [{ key, message: 'YAML 1.2 has no merge keys: write out what "<<" stands for.' }]
      : [];
  });
}

/** JSON, which the engine speaks, has neither; a rounded number would be a wrong number; and no database keeps the others. */
function scalarProblem({ value, source }: Scalar): string | undefined {
  if (typeof value === 'string') {
    if (value.includes('\0')) return 'The character U+0000 cannot be used.';
    return value.isWellFormed() ? undefined : 'Half of a surrogate pair is no character.';
  }
  if (typeof value !== 'number') return undefined;
  if (!Number.isFinite(value)) return 'NaN and infinity cannot be used.';
  const digits = source !== undefined && /^[-+]?\d+$/.test(source);
  return digits && !Number.isSafeInteger(value)
    ? `${source} is too large for an exact number: put it in quotes.`
    : undefined;
}
