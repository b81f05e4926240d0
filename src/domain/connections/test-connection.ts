import type { RequestContext } from '../../context.js';
import { probe } from '../../integrations/connections/probe.js';
import { explained } from './explained.js';
import { getSealedConnection } from './get-connection.js';
import { openDefinition } from './open-definition.js';
import { requestedTarget } from './requested-target.js';

const TIMEOUT_MS = 10_000;

export interface ConnectionTest {
  success: boolean;
  message: string;
  latencyMs: number;
}

/** A system that cannot be reached is an answer, no failure. @throws NOT_FOUND, AUTHORIZATION_ERROR */
export async function testConnection(context: RequestContext, id: string): Promise<ConnectionTest> {
  const definition = openDefinition(context.services, await getSealedConnection(context, id));
  const started = performance.now();
  const answer = (success: boolean, message: string): ConnectionTest => ({
    success,
    message,
    latencyMs: Math.round(performance.now() - started),
  });
  if (definition.type === 'kafka')
    return answer(
      false,
      'A kafka connection is a definition only: it can be tested once streaming is built.',
    );
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const target = await requestedTarget(definition, context.services.config);
    if (!target) return answer(false, `A ${definition.type} connection cannot be tested.`);
    return answer(true, await probe(target, signal));
  } catch (error) {
    return answer(false, explained(signal.aborted ? signal.reason : error, definition));
  }
}
