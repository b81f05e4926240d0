import { type Around, failureOf, type RouteInfo } from 'rest-graphql-bridge';
import type { RequestContext } from '../context.js';
import { answerOnce } from '../domain/idempotency/index.js';
import { isBelow } from '../gateway/surface.js';
import { describeBridgeFailure } from '../rest/envelopes/describe-bridge-failure.js';
import { isRepeatable } from '../rest/repeatable.js';

/** What stands around a row that may be sent again with an Idempotency-Key. */
export function answerRepeated(route: RouteInfo): Around<RequestContext> | undefined {
  if (!isBelow(route.path, '/v1') || !isRepeatable(route)) return undefined;
  return ({ request, context, body }, run) => {
    const key = request.headers['idempotency-key'];
    if (typeof key !== 'string') return run();
    const { method = route.method, url: path = route.path } = request;
    const leavesOpen = (error: unknown) =>
      describeBridgeFailure(failureOf(error), method, path).details?.['service'] === 'database';
    return answerOnce(context, { key, method, path, body }, { run, leavesOpen });
  };
}
