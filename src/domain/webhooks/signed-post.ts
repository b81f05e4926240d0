import { createHmac } from 'node:crypto';
import type { Event } from '../../entities/events/event.js';
import type { WebhookPost } from '../../integrations/webhooks/webhook-sender.js';

/** ITSM document, Event envelope. */
export type EventEnvelope = Pick<Event, 'id' | 'type' | 'timestamp' | 'organizationId' | 'payload'>;

/** What a secret begins with (Standard Webhooks, section "Signature scheme"). */
export const SECRET_PREFIX = 'whsec_';

/**
 * The event as it goes to a receiver. x-itsm-signature is keyed with the secret as its owner knows it, webhook-signature
 * with the bytes it stands for, as the libraries of Standard Webhooks do; the latter covers the time of the attempt too.
 */
export function signedPost(url: string, secret: string, event: EventEnvelope, at: Date): WebhookPost {
  const { id, type, timestamp, organizationId, payload } = event;
  const body = Buffer.from(JSON.stringify({ id, type, timestamp, organizationId, payload }));
  const seconds = String(Math.floor(at.getTime() / 1000));
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const standard = createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest('base64');
  return {
    url,
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Opsgraph-Webhooks/1.0',
      'x-itsm-signature': createHmac('sha256', secret).update(body).digest('hex'),
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': `v1,${standard}`,
    },
  };
}
