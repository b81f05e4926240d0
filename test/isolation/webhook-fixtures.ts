import { Event } from '../../src/entities/events/event.js';
import { newId } from '../../src/entities/ids.js';
import { WebhookDelivery } from '../../src/entities/webhooks/webhook-delivery.js';
import { eventually } from '../support/eventually.js';
import type { Actor } from './houses.js';

/** Nobody has it (RFC 6761), so that what is sent there fails at once. */
export const UNRESOLVABLE = 'https://receiver.invalid/';

/** Of a ticket of the actor; in the log once it has its number. */
export async function recordedEvent(actor: Actor): Promise<string> {
  const { houses, house } = actor;
  const { body } = await actor.asItsm('POST', '/v1/tickets', { title: house.marker });
  const find = () =>
    houses.em().findOne(Event, { subjectId: body.id, seq: { $ne: null } }, { filters: false });
  await eventually(async () => (await find()) !== null);
  return (await find())?.id ?? '';
}

const deliveries = new WeakMap<Actor, Promise<WebhookDelivery>>();

/** One that waits, always the same of an actor: operations name a delivery together with its webhook. */
export function deliveryOf(actor: Actor): Promise<WebhookDelivery> {
  const known = deliveries.get(actor) ?? insertDelivery(actor);
  deliveries.set(actor, known);
  return known;
}

async function insertDelivery(actor: Actor): Promise<WebhookDelivery> {
  const { houses, house } = actor;
  const wish = { url: UNRESOLVABLE, events: ['webhook.test'], name: house.marker };
  const { body } = await actor.asItsm('POST', '/v1/webhooks', wish);
  const em = houses.em();
  const delivery = em.create(WebhookDelivery, {
    id: newId('dlv'),
    webhookId: body.id,
    organizationId: house.organizationId,
    eventId: await recordedEvent(actor),
    eventType: 'ticket.created',
    dueAt: new Date(),
    createdAt: new Date(),
  });
  await em.flush();
  return delivery;
}
