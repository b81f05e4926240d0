/** Plain text to one address; whoever writes it keeps lines short and secrets few. */
export interface MailMessage {
  /** The same for every attempt, so that a mail that arrived twice can be told; random when absent. */
  id?: string;
  to: string;
  subject: string;
  text: string;
}

/** `status` is the reply code of RFC 5321 section 4.2.1: 5yz, so that another attempt would get the same. */
export type MailOutcome = { accepted: true } | { accepted: false; status: number };

export interface Mailer {
  /**
   * Hands over one message, trying once and no longer than 30 s.
   * @throws Error when another attempt may succeed: nobody answers, too slowly, or says so (4yz)
   */
  send(message: MailMessage, signal?: AbortSignal): Promise<MailOutcome>;
}
