import type { IncomingMessage } from 'node:http';
import { newId, newUuid } from '../entities/ids.js';
import { surfaceOf } from './surface.js';

const FORMS = {
  itsm: /^req_[0-9a-hjkmnp-tv-z]{26}$/,
  platform: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
} as const;

/** The client's own id when it has the surface's form, otherwise a new one. */
export function requestIdFor(request: IncomingMessage): string {
  const surface = surfaceOf(request);
  const sent = request.headers['x-request-id'];
  if (typeof sent === 'string' && FORMS[surface].test(sent)) return sent;
  return surface === 'itsm' ? newId('req') : newUuid();
}
