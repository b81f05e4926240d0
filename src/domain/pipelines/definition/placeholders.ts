import type { ParameterType } from './pipeline-definition.js';

export interface Placeholder {
  /** As written, braces included. */
  raw: string;
  /** For example `params.run_date`. */
  name: string;
  /** Where it begins in the text. */
  index: number;
}

/** What a run always brings. */
export const BUILT_INS: Readonly<Record<string, ParameterType>> = {
  'run.id': 'STRING',
  'run.startedAt': 'TIMESTAMP',
  'schedule.date': 'DATE',
  'pipeline.name': 'STRING',
  'workspace.slug': 'STRING',
};

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

export function placeholdersIn(text: string): Placeholder[] {
  return [...text.matchAll(PLACEHOLDER)].map((match) => ({
    raw: match[0],
    name: (match[1] ?? '').trim(),
    index: match.index,
  }));
}

/** Puts in what `value` says for each placeholder; what it puts in is not searched again. */
export function fillIn(text: string, value: (placeholder: Placeholder) => string): string {
  return text.replace(PLACEHOLDER, (raw: string, name: string, index: number) =>
    value({ raw, name: name.trim(), index }),
  );
}
