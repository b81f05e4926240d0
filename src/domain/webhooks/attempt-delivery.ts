import { LRUCache } from 'lru-cache';
import type { Services } from '../../context.js';
import type { PostOutcome } from '../../integrations/webhooks/webhook-sender.js';
import { attemptRecord, isDelivered, unsignable } from './attempt-record.js';
import type { ClaimedDelivery } from './claim-deliveries.js';
import { nextAttemptAt } from './retry-schedule.js';
import type { Settlement } from './settle-deliveries.js';
import { signedPost } from './signed-post.js';

const SECRETS_REMEMBERED = 1_000;

export interface Attempts {
  /**
   * One POST, and what is to become of the delivery.
   * @throws the reason of `signal` when it was aborted in the middle
   */
  make(delivery: ClaimedDelivery, signal: AbortSignal): Promise<Settlement>;
}

export function createAttempts(
  services: Pick<Services, 'secrets' | 'webhookSender' | 'now' | 'log'>,
): Attempts {
  const { secrets, webhookSender, now, log } = services;
  const opened = new LRUCache<string, string>({ max: SECRETS_REMEMBERED });

  /** Undefined when it was sealed under another key: no later attempt would find it better, but each is bounded. */
  function openOrUndefined(sealed: string): string | undefined {
    const known = opened.get(sealed);
    if (known !== undefined) return known;
    try {
      const secret = secrets.open(sealed);
      opened.set(sealed, secret);
      return secret;
    } catch (error) {
      log.error({ err: error }, 'the secret of a webhook cannot be opened');
      return undefined;
    }
  }

  return {
    async make(delivery, signal) {
      const { url, sealedSecret, eventId, type, timestamp, organizationId, payload } = delivery;
      const attemptedAt = now();
      if (url === null || sealedSecret === null || eventId === null)
        return nothingSent(delivery, attemptedAt);
      const event = { id: eventId, type, timestamp, organizationId, payload };
      const secret = openOrUndefined(sealedSecret);
      if (secret === undefined) return settlementOf(delivery, attemptedAt, unsignable, attemptedAt);
      const post = signedPost(url, secret, event, attemptedAt);
      const outcome = await webhookSender.post({ ...post, signal });
      return settlementOf(delivery, attemptedAt, outcome, now());
    },
  };
}

function nothingSent({ id, webhookId, attempt }: ClaimedDelivery, endedAt: Date): Settlement {
  return { id, webhookId, attempt, status: 'failed', record: null, endedAt, dueAt: null };
}

function settlementOf(
  { id, webhookId, attempt, maxAttempts }: ClaimedDelivery,
  attemptedAt: Date,
  outcome: PostOutcome,
  endedAt: Date,
): Settlement {
  const settlement = {
    id,
    webhookId,
    attempt,
    record: attemptRecord(attempt, attemptedAt, outcome),
    endedAt,
  };
  if (isDelivered(outcome)) return { ...settlement, status: 'delivered', dueAt: null };
  if (attempt >= maxAttempts) return { ...settlement, status: 'failed', dueAt: null };
  const retryAfter = outcome.status === null ? undefined : outcome.retryAfter;
  return { ...settlement, status: 'pending', dueAt: nextAttemptAt(attempt, endedAt, retryAfter) };
}
