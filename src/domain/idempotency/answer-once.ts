import { createHash } from 'node:crypto';
import { itsmCaller, type RequestContext } from '../../context.js';
import { IdempotentAnswer } from '../../entities/idempotency/idempotent-answer.js';
import { conflict, invalidField } from '../../errors.js';
import { ANSWER_TTL_MS } from './answer-ttl.js';

/** A request that its caller may send again. */
export interface RepeatableRequest {
  /** As the caller sent it in Idempotency-Key. */
  key: string;
  method: string;
  /** With its query. */
  path: string;
  body: unknown;
}

/** The request itself. */
export interface Attempt {
  run(): Promise<Answer>;
  /** Whether a failure leaves open what was done, as a connection does that is lost at the commit. */
  leavesOpen(error: unknown): boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly body: unknown;
}

const FIELD = 'Idempotency-Key';
const MAX_KEY_LENGTH = 255;
/** Woken when a first request was answered or failed; whoever misses it looks again anyway. */
const ANSWERED_TOPIC = 'idempotent-answers';
const LOOK_AGAIN_MS = 250;
/** How long a repetition waits for the first request, which may be one that never ends: its server died. */
const PATIENCE_MS = 10_000;

type Place = Pick<IdempotentAnswer, 'organizationId' | 'callerId' | 'keyHash'>;

/**
 * Runs a request at most once for its caller's key: whoever repeats it within 24 h gets the first answer, also while
 * the first is still at work. A request that failed leaves nothing behind and may be sent again; one of which nobody
 * knows what it did, because its server died or lost the database, stays without an answer and is never run again.
 * @throws VALIDATION_ERROR for an unusable key, CONFLICT for the key of another request or of one without an answer
 */
export async function answerOnce(
  context: RequestContext,
  request: RepeatableRequest,
  attempt: Attempt,
): Promise<Answer> {
  const place = placeOf(context, request.key);
  const requestHash = hash(JSON.stringify([request.method, request.path, request.body ?? null]));
  const patience = performance.now() + PATIENCE_MS;
  for (;;) {
    if (await claim(context, place, requestHash)) return runFirst(context, place, attempt);
    const first = await context.em.fork().findOne(IdempotentAnswer, place);
    // Failed between the two looks: the key is free.
    if (first === null) continue;
    if (first.requestHash !== requestHash)
      throw conflict('The key belongs to another request', { field: FIELD, reason: 'keyReused' });
    if (first.sealedAnswer !== null) return reopened(context, first.sealedAnswer);
    const age = context.services.now().getTime() - first.createdAt.getTime();
    if (age > PATIENCE_MS || performance.now() > patience)
      throw conflict('The first request with this key has no answer yet', {
        field: FIELD,
        reason: 'inProgress',
        since: first.createdAt,
      });
    await wokenOrLater(context);
  }
}

function placeOf(context: RequestContext, key: string): Place {
  if (key.trim() === '') throw invalidField(FIELD, 'isNotEmpty', `${FIELD} must not be empty`);
  if (key.length > MAX_KEY_LENGTH)
    throw invalidField(FIELD, 'maxLength', `${FIELD} must have at most ${MAX_KEY_LENGTH} characters`);
  const { organizationId, userId, apiKey } = itsmCaller(context);
  return { organizationId, callerId: apiKey?.id ?? userId, keyHash: hash(key) };
}

/** Of any number at once exactly one makes the row, or takes over one whose 24 h are over. */
function claim(context: RequestContext, place: Place, requestHash: string): Promise<boolean> {
  const now = context.services.now();
  return context.em.fork().transactional(async (em) => {
    const claimed = await em.execute<object[]>(
      `insert into idempotent_answer (organization_id, caller_id, key_hash, request_hash, request_id, created_at)
       values (?, ?, ?, ?, ?, ?)
       on conflict (organization_id, caller_id, key_hash) do update
       set request_hash = excluded.request_hash, request_id = excluded.request_id,
         created_at = excluded.created_at, sealed_answer = null
       where idempotent_answer.created_at <= ?
       returning 1`,
      [
        place.organizationId,
        place.callerId,
        place.keyHash,
        requestHash,
        context.requestId,
        now,
        new Date(now.getTime() - ANSWER_TTL_MS),
      ],
    );
    return claimed.length > 0;
  });
}

async function runFirst(context: RequestContext, place: Place, attempt: Attempt): Promise<Answer> {
  const { secrets } = context.services;
  const own = { ...place, requestId: context.requestId };
  try {
    const answer = await attempt.run();
    const sealedAnswer = secrets.seal(JSON.stringify(answer));
    await remember(context, (em) => em.nativeUpdate(IdempotentAnswer, own, { sealedAnswer }));
    return answer;
  } catch (error) {
    if (!attempt.leavesOpen(error)) await remember(context, (em) => em.nativeDelete(IdempotentAnswer, own));
    throw error;
  }
}

/** What was done stands, whether or not it can be remembered. */
async function remember(
  { em, log, services }: RequestContext,
  change: (em: RequestContext['em']) => Promise<unknown>,
): Promise<void> {
  try {
    await em.fork().transactional(change);
    services.wake.wake(ANSWERED_TOPIC);
  } catch (error) {
    log.error({ err: error }, 'the answer to an Idempotency-Key was not remembered');
  }
}

function reopened({ services }: RequestContext, sealed: string): Answer {
  const { status, headers, body } = JSON.parse(services.secrets.open(sealed)) as Answer;
  return { status, headers: { ...headers, 'idempotent-replayed': 'true' }, body };
}

function wokenOrLater({ services: { wake } }: RequestContext): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      stopListening();
      resolve();
    };
    const timer = setTimeout(done, LOOK_AGAIN_MS);
    const stopListening = wake.on(ANSWERED_TOPIC, done);
  });
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
