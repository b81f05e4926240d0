import type { NullPolicy } from './row.js';

type Decision = 'keep' | 'omit';

interface Step {
  /** Undefined where the policy says nothing: the default counts. */
  decision: Decision | undefined;
  readonly below: Map<string, Step>;
}

/**
 * Compiles a null policy. The result deletes, in place, the properties whose value is null and whose path says `omit`;
 * items of lists share their list's path. A path with `keep` protects everything below it as well.
 * @param opaque paths of custom scalars: what is inside a JSON value is data, and no policy reaches into it.
 * @returns undefined when nothing is ever omitted.
 */
export function compileNullPolicy(
  policy: NullPolicy | undefined,
  opaque: readonly string[] = [],
): ((value: unknown) => void) | undefined {
  const table = policy === undefined || typeof policy === 'string' ? { '*': policy ?? 'keep' } : policy;
  if (!Object.values(table).includes('omit')) return undefined;
  const root: Step = { decision: undefined, below: new Map() };
  for (const [path, decision] of Object.entries(table)) {
    if (path !== '*') stepTo(root, path).decision = decision;
  }
  const sealed = new Set(opaque.map((path) => stepTo(root, path)));
  return (value) => omit(value, root, table['*'] ?? 'keep', sealed);
}

function stepTo(root: Step, path: string): Step {
  let step = root;
  for (const name of path.split('.')) {
    const next = step.below.get(name) ?? { decision: undefined, below: new Map<string, Step>() };
    step.below.set(name, next);
    step = next;
  }
  return step;
}

function omit(value: unknown, step: Step | undefined, byDefault: Decision, sealed: ReadonlySet<Step>): void {
  // Nothing below is named and the default keeps: no need to look.
  if (step === undefined && byDefault === 'keep') return;
  if (Array.isArray(value)) {
    for (const item of value) omit(item, step, byDefault, sealed);
    return;
  }
  if (!isRecord(value)) return;
  for (const key of Object.keys(value)) {
    const next = step?.below.get(key);
    if (value[key] === null) {
      if ((next?.decision ?? byDefault) === 'omit') delete value[key];
    } else if (next === undefined || !(sealed.has(next) || next.decision === 'keep')) {
      omit(value[key], next, byDefault, sealed);
    }
  }
}

function isRecord(value: unknown): value is { [key: string]: unknown } {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // graphql-js makes data without a prototype; a Date or a Decimal is a value, not a record.
  return prototype === null || prototype === Object.prototype;
}
