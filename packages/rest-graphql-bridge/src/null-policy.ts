import type { NullPolicy } from './row.js';

type Decision = 'keep' | 'omit';

/** A node of the policy's tree; below it are the names of its properties. */
export interface PolicyStep {
  /** Undefined where the policy says nothing: the default counts. */
  decision: Decision | undefined;
  /** True where no policy reaches in: below `keep`, and in custom scalars, whose content is data. */
  sealed: boolean;
  readonly below: Map<string, PolicyStep>;
}

export interface PolicyTree {
  readonly root: PolicyStep;
  readonly byDefault: Decision;
}

/** @param opaque response paths of custom scalars. */
export function policyTree(policy: NullPolicy | undefined, opaque: readonly string[]): PolicyTree {
  const table = namedPaths(policy);
  const root: PolicyStep = { decision: undefined, sealed: false, below: new Map() };
  for (const [path, decision] of Object.entries(table)) {
    if (path === '*') continue;
    const step = stepTo(root, path);
    step.decision = decision;
    if (decision === 'keep') step.sealed = true;
  }
  for (const path of opaque) stepTo(root, path).sealed = true;
  return { root, byDefault: table['*'] ?? 'keep' };
}

export function namedPaths(policy: NullPolicy | undefined): { readonly [path: string]: Decision } {
  return policy === undefined || typeof policy === 'string' ? { '*': policy ?? 'keep' } : policy;
}

export function decisionAt(tree: PolicyTree, step: PolicyStep | undefined): Decision {
  return step?.decision ?? tree.byDefault;
}

/**
 * Compiles a null policy: the result leaves out the properties whose value is null and whose path says `omit`. Items of
 * lists share their list's path. What it changes it copies, since a custom scalar's value may be the resolver's own.
 * @returns undefined when nothing is ever omitted.
 */
export function compileNullPolicy(
  policy: NullPolicy | undefined,
  opaque: readonly string[],
): ((value: unknown) => unknown) | undefined {
  if (!Object.values(namedPaths(policy)).includes('omit')) return undefined;
  const tree = policyTree(policy, opaque);
  return (value) => without(value, tree, tree.root);
}

function stepTo(root: PolicyStep, path: string): PolicyStep {
  let step = root;
  if (path === '') return step;
  for (const name of path.split('.')) {
    const next = step.below.get(name) ?? { decision: undefined, sealed: false, below: new Map() };
    step.below.set(name, next);
    step = next;
  }
  return step;
}

function without(value: unknown, tree: PolicyTree, step: PolicyStep | undefined): unknown {
  // Sealed, or nothing below is named and the default keeps: no need to look.
  if (step ? step.sealed : tree.byDefault === 'keep') return value;
  if (Array.isArray(value)) return withoutInList(value, tree, step);
  return isRecord(value) ? withoutInRecord(value, tree, step) : value;
}

function withoutInList(list: readonly unknown[], tree: PolicyTree, step: PolicyStep | undefined): unknown {
  let copy: unknown[] | undefined;
  for (let at = 0; at < list.length; at += 1) {
    const item = without(list[at], tree, step);
    if (item === list[at]) continue;
    copy ??= [...list];
    copy[at] = item;
  }
  return copy ?? list;
}

type Record = { [key: string]: unknown };

function withoutInRecord(value: Record, tree: PolicyTree, step: PolicyStep | undefined): unknown {
  let copy: Record | undefined;
  for (const key of Object.keys(value)) {
    const next = step?.below.get(key);
    const before = value[key];
    const omitted = before === null && decisionAt(tree, next) === 'omit';
    const after = omitted || before === null ? before : without(before, tree, next);
    if (!omitted && after === before) continue;
    copy ??= { ...value };
    // JSON leaves undefined out; a deleted property would cost the object its shape, and stringify its fast path.
    copy[key] = omitted ? undefined : after;
  }
  return copy ?? value;
}

function isRecord(value: unknown): value is Record {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // graphql-js makes data without a prototype; a Date or a Decimal is a value, not a record.
  return prototype === null || prototype === Object.prototype;
}
