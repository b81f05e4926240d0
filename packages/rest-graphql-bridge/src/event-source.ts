import type { ExecutionResult } from 'graphql';
import { type Failure, failureOf, RequestRefused } from './failure.js';
import type { OpenStreams } from './open-streams.js';
import type { Operation } from './operation.js';
import type { Variables } from './prepare-variables.js';
import type { OnUnexpected } from './respond.js';
import type { Row, RowInput, StreamLife, StreamOptions } from './row.js';
import { givenVariables } from './row-input.js';

/** A subscription that was opened for one client. */
export interface Subscription {
  readonly operation: Operation;
  readonly source: AsyncIterator<unknown>;
  readonly variables: Variables;
  /** The context for resolving one event. */
  readonly contextOf: () => unknown;
  readonly life: StreamLife | undefined;
}

/** The client's end of a subscription. */
export interface Sink {
  readonly closed: boolean;
  /** A promise means: wait, the client has not taken what was sent before. */
  send(data: unknown): Promise<void> | undefined;
  /** The source or an event failed: nothing more will be sent. */
  fail(failure: Failure): void;
  /** The source has ended. */
  end(): void;
}

/** What every streaming row shares. */
export interface StreamHost {
  readonly streams: OpenStreams;
  readonly tell: OnUnexpected;
  /** Makes the context for one event from the one made at the start. */
  readonly eventContext: (context: unknown) => unknown;
  readonly lifeOf: (context: unknown) => StreamLife | undefined;
}

/** @throws RequestRefused when the subscription's resolver refuses. */
export async function subscribe(
  row: Row<never>,
  operation: Operation,
  host: StreamHost,
  input: RowInput<unknown>,
): Promise<Subscription> {
  const variables = operation.prepare(givenVariables(row, input));
  const source = await operation.open(input.context, variables);
  if (!(Symbol.asyncIterator in source)) {
    throw new RequestRefused({ kind: 'graphql', errors: source.errors ?? [] });
  }
  const contextOf = () => host.eventContext(input.context);
  const life = shorter(row as StreamOptions, host.lifeOf(input.context));
  return { operation, source: source[Symbol.asyncIterator](), variables, contextOf, life };
}

/** setTimeout holds 31 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function shorter(
  { maxLifeMs = Infinity }: StreamOptions,
  life: StreamLife | undefined,
): StreamLife | undefined {
  if (life && life.ms < maxLifeMs) return { ...life, ms: Math.min(life.ms, LONGEST_TIMER_MS) };
  if (maxLifeMs === Infinity) return undefined;
  return { ms: maxLifeMs, close: { code: 1001, reason: 'maximum life reached' } };
}

/** Sends results until one side ends. An event that can't be resolved ends the stream: the next might hide the gap. */
export async function pump(subscription: Subscription, sink: Sink): Promise<void> {
  const { operation, source, variables, contextOf } = subscription;
  try {
    while (!sink.closed) {
      const next = await source.next();
      if (sink.closed) return;
      if (next.done) {
        sink.end();
        return;
      }
      const result: ExecutionResult = await operation.run(next.value, await contextOf(), variables);
      if (sink.closed) return;
      if (result.errors) throw new RequestRefused({ kind: 'graphql', errors: result.errors });
      const sending = sink.send(result.data);
      if (sending) await sending;
    }
  } catch (error) {
    if (!sink.closed) sink.fail(failureOf(error));
  }
}

/** Default bound on bytes a client has not taken yet. */
const MAX_BUFFERED_BYTES = 1_048_576;
/** Default time a client over that bound has to take them. */
const STALL_MS = 2_000;

/**
 * Writes, and when too much then waits to be taken, waits for it. A client that resumes with a long backlog is only
 * behind; one that does not take it in time is slow and is cut off, so nothing is held for it without bound.
 */
export function writeOrCut(
  row: StreamOptions,
  write: (flushed: () => void) => void,
  bufferedBytes: () => number,
  cut: () => void,
): Promise<void> | undefined {
  let onFlushed: (() => void) | undefined;
  write(() => onFlushed?.());
  if (bufferedBytes() <= (row.maxBufferedBytes ?? MAX_BUFFERED_BYTES)) return undefined;
  return new Promise((resolve) => {
    const stalled = setTimeout(() => {
      cut();
      resolve();
    }, row.stallMs ?? STALL_MS);
    onFlushed = () => {
      clearTimeout(stalled);
      resolve();
    };
  });
}

/**
 * Tells a source that nobody listens any more. Not awaited: an async generator that waits for its next event would
 * answer only after it.
 */
export function release(source: AsyncIterator<unknown>, onError: (error: unknown) => void): void {
  try {
    source.return?.().then(undefined, onError);
  } catch (error) {
    onError(error);
  }
}
