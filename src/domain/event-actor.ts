import type { ItsmPrincipal } from '../context.js';
import type { EventActor } from '../events/catalogue.js';

/** Who an event says did it. */
export function eventActor({ userId, apiKey }: ItsmPrincipal): EventActor {
  return apiKey ? { id: apiKey.id, type: 'api_key' } : { id: userId, type: 'user' };
}
