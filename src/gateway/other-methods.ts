import type { RequestHandler } from 'express';
import { AppError } from '../errors.js';

/**
 * OPTIONS is answered and every other method refused, with `allow`: for a path that is no row. Express would answer OPTIONS
 * by itself, with 200 and only the methods of the first router that knows the path, so ask this before those routers too.
 */
export function otherMethods(allow: string): RequestHandler {
  return (request, response) => {
    response.setHeader('allow', allow);
    if (request.method !== 'OPTIONS')
      throw new AppError('METHOD_NOT_ALLOWED', `${request.method} is not allowed here`);
    response.status(204).end();
  };
}
