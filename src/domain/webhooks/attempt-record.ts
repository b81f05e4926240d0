import type { WebhookAttempt } from '../../entities/webhooks/webhook-attempt.js';
import type { PostOutcome } from '../../integrations/webhooks/webhook-sender.js';

/** Of a webhook whose secret was sealed under another key: nothing is sent that nobody could verify. */
export const unsignable: PostOutcome = { status: null, error: 'secret unreadable', milliseconds: 0 };

export function isDelivered({ status }: PostOutcome): boolean {
  return status !== null && status >= 200 && status < 300;
}

export function attemptRecord(attempt: number, attemptedAt: Date, outcome: PostOutcome): WebhookAttempt {
  return {
    attempt,
    responseCode: outcome.status,
    responseTimeMs: outcome.milliseconds,
    attemptedAt: attemptedAt.toISOString(),
    error: outcome.status === null ? outcome.error : null,
  };
}
