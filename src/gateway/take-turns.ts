import type { NextFunction, RequestHandler } from 'express';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Some 2 ms. One at a time took GraphQL's ticket list from 0.6 of bare Express to 0.5 (bench/tickets-list.ts). */
const PER_TURN = 4;

/**
 * Of requests that arrive together, those that may write are begun a few in each turn of the event loop, in their order, and
 * those that read at once: otherwise a read waits until each of a hundred writes has been routed and authenticated.
 */
export function takeTurns(): RequestHandler {
  const waiting: NextFunction[] = [];
  let begun = 0;
  const begin = (next: NextFunction) => {
    if (begun === 0) setImmediate(startTurn);
    begun += 1;
    next();
  };
  const startTurn = () => {
    begun = 0;
    for (const next of waiting.splice(0, PER_TURN)) begin(next);
  };
  return ({ method }, _response, next) => {
    if (READS.has(method)) next();
    else if (begun >= PER_TURN) waiting.push(next);
    else begin(next);
  };
}
