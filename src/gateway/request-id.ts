import type { IncomingMessage } from 'node:http';
import { isId, newId, newUuid } from '../entities/ids.js';
import { type Surface, surfaceOf } from './surface.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

interface IdForm {
  fits(sent: string): boolean;
  make(): string;
}

const FORMS: Record<Surface, IdForm> = {
  itsm: { fits: (sent) => isId('req', sent), make: () => newId('req') },
  platform: { fits: (sent) => UUID.test(sent), make: newUuid },
};

/** The client's own id when it has the surface's form, otherwise a new one. */
export function requestIdFor(request: IncomingMessage): string {
  const form = FORMS[surfaceOf(request)];
  const sent = request.headers['x-request-id'];
  return typeof sent === 'string' && form.fits(sent) ? sent : form.make();
}
