import type { Logger } from 'pino';
import { type RawData, WebSocket } from 'ws';
import { maskMessage } from '../../masking/json-masker.js';

/** A side that reads slower than the other writes makes that one wait. */
const HIGH_WATER_BYTES = 1_048_576;

/** RFC 6455 section 7.4.1: seen for a connection that ended without a close frame, or without a code in it. */
const NO_CODE = 1005;
const NO_FRAME = 1006;
/** IANA's close code registry: Bad Gateway. */
const BAD_GATEWAY = 1014;
const GOING_AWAY = 1001;

/**
 * Carries messages between a client and an upstream until one of them ends: what the upstream says in text is masked,
 * closing codes go through, a silent side is cut off.
 * @param upstream paused
 * @param idleMs without a sign of life, be it a pong
 * @returns says goodbye to both
 */
export function joinSockets(client: WebSocket, upstream: WebSocket, idleMs: number, log: Logger): () => void {
  carry(client, upstream, (data) => data);
  carry(upstream, client, (data, binary) => (binary ? data : maskMessage(String(data))));
  endTogether(client, upstream, GOING_AWAY);
  endTogether(upstream, client, BAD_GATEWAY);
  for (const side of [client, upstream]) {
    side.on('error', (error) => log.debug({ err: error }, 'proxied WebSocket failed'));
    watch(side, idleMs);
  }
  upstream.resume();
  return () => {
    client.close(GOING_AWAY, 'server is stopping');
    upstream.close(GOING_AWAY);
  };
}

function carry(
  from: WebSocket,
  to: WebSocket,
  convert: (data: RawData, binary: boolean) => RawData | string,
): void {
  from.on('message', (data, binary) => {
    if (to.readyState !== WebSocket.OPEN) return;
    to.send(convert(data, binary), { binary }, () => {
      if (from.isPaused && to.bufferedAmount < HIGH_WATER_BYTES) from.resume();
    });
    if (to.bufferedAmount >= HIGH_WATER_BYTES) from.pause();
  });
}

function endTogether(ended: WebSocket, other: WebSocket, abnormal: number): void {
  ended.once('close', (code, reason) => {
    // A paused socket would never read the close frame of its peer.
    if (other.isPaused) other.resume();
    if (code === NO_CODE) other.close();
    else if (code === NO_FRAME) other.close(abnormal);
    else other.close(code, reason);
  });
}

/** Pings twice in the time a side may be silent. */
function watch(side: WebSocket, idleMs: number): void {
  let seen = performance.now();
  const alive = () => {
    seen = performance.now();
  };
  side.on('message', alive).on('ping', alive).on('pong', alive);
  const timer = setInterval(() => {
    if (performance.now() - seen >= idleMs) side.terminate();
    else if (side.readyState === WebSocket.OPEN) side.ping();
  }, idleMs / 2);
  side.once('close', () => clearInterval(timer));
}
