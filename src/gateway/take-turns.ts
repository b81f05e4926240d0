import type { NextFunction, RequestHandler } from 'express';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Of requests that arrive together, those that may write are begun one in each turn of the event loop, in their order, and
 * those that read at once: otherwise a read waits until each of a hundred writes has been routed and authenticated.
 */
export function takeTurns(): RequestHandler {
  const waiting: NextFunction[] = [];
  let isTaken = false;
  const begin = (next: NextFunction) => {
    isTaken = true;
    setImmediate(giveUp);
    next();
  };
  const giveUp = () => {
    isTaken = false;
    const next = waiting.shift();
    if (next) begin(next);
  };
  return ({ method }, _response, next) => {
    if (READS.has(method)) next();
    else if (isTaken) waiting.push(next);
    else begin(next);
  };
}
