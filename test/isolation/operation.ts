import type { Chosen, Reference } from './arguments.js';
import type { Actor, House } from './houses.js';
import type { KindName } from './reference-kinds.js';

/** One way into the server: a root field over GraphQL or a row over REST. */
export interface Operation {
  readonly name: string;
  readonly reads: boolean;
  /** Which credential it asks for. */
  readonly door: 'itsm' | 'platform' | 'public';
  readonly references: readonly Reference[];
  /** What it answers with, so that there is one to answer with. */
  readonly shows: KindName | undefined;
  /** The reference by which the thing itself is named: a foreign one is absent (404), not merely unusable. */
  names(reference: Reference): boolean;
  send(actor: Actor, chosen?: Chosen): Promise<Answer>;
}

export interface Answer {
  /** Undefined for success, otherwise one of the closed union in src/errors.ts. */
  readonly refusal: string | undefined;
  readonly body: unknown;
}

/** What of a house stands in an answer that its reader must not know; the id the reader sent is no news. */
export function leaked(answer: Answer, house: House, door: Operation['door'], sent = ''): string[] {
  const text = JSON.stringify(answer.body) ?? '';
  const { organization, workspace } = house.made;
  // The tenant_admin of an organization may hear of all its workspaces.
  const secrets = house.name === 'sibling' && door !== 'platform' ? [] : [house.marker, ...workspace];
  const strangers = house.name === 'stranger' ? [...organization] : [];
  return [...secrets, ...strangers].filter((secret) => secret !== sent && text.includes(secret));
}

/** An answer without what differs between any two requests. */
export function comparable(answer: Answer, sent: string): string {
  const text = JSON.stringify(answer, (key, value) =>
    ['timestamp', 'requestId', 'path'].includes(key) ? undefined : value,
  );
  return text.replaceAll(sent, '<id>');
}
