import type { Services } from '../../context.js';

/** Every kind of mail and what its text is made of when it is sent: addresses and ids, and never a secret. */
export interface MailDetails {
  /** A text that is ready. */
  notice: { to: string; subject: string; text: string };
  /** For whoever asked, whether or not anybody has that address: only the sending finds out. */
  password_reset: { email: string };
  invitation: { userId: string };
  password_changed: { userId: string };
}

export type MailKind = keyof MailDetails;

export interface MailText {
  to: string;
  subject: string;
  text: string;
}

export type MailServices = Pick<Services, 'orm' | 'config' | 'secrets' | 'mail' | 'now' | 'log'>;

/** Undefined means that there is nothing to send, or nothing any more. */
export type MailWriters = {
  readonly [K in MailKind]: (
    services: MailServices,
    details: MailDetails[K],
    mailId: string,
  ) => Promise<MailText | undefined>;
};

const HOUR_MS = 3_600_000;

/** For so long after it was asked for a mail is tried again; a link that was asked for yesterday helps nobody. */
export const triedForMs: Readonly<Record<MailKind, number>> = {
  notice: 48 * HOUR_MS,
  password_reset: HOUR_MS,
  invitation: 48 * HOUR_MS,
  password_changed: 48 * HOUR_MS,
};

export function isMailKind(kind: string): kind is MailKind {
  return Object.hasOwn(triedForMs, kind);
}
