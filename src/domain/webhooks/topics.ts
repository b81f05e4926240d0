/** Woken when deliveries may be due; workers listen. */
export const DELIVERIES_DUE = 'webhooks.due';

/** Woken when deliveries of a webhook were queued, delivered, failed or planned anew. */
export function deliveriesTopic(webhookId: string): string {
  return `webhooks.deliveries.${webhookId}`;
}
