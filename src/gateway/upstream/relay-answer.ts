import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { type Readable, type Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { decodingStream, isEventStream, maskingStream } from './body-streams.js';
import { copyHeaders } from './headers.js';

/** What an upstream answered; undici's and Node's own answers both fit. */
export interface UpstreamAnswer {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

/**
 * Passes an answer on, errors as well, masked when it is JSON or an event stream. Resolves when the last byte is out.
 * When it fails before anything was sent, `response` is as it was, for an error of the gateway's own.
 */
export async function relayAnswer(
  answer: UpstreamAnswer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { statusCode, headers, body } = answer;
  const copied: string[] = [];
  try {
    if (statusCode < 200 || statusCode > 599) throw new RangeError(`${statusCode} is no status of an answer`);
    const masking = maskingStream(headers['content-type']);
    const empty = request.method === 'HEAD' || statusCode === 204 || statusCode === 304;
    const decoding = masking && !empty ? decodingStream(headers['content-encoding']) : undefined;
    copied.push(...copyHeaders(headers, response, masking !== undefined));
    response.statusCode = statusCode;
    if (isEventStream(headers['content-type'])) response.flushHeaders();
    const through = [decoding, masking].filter((stream): stream is Transform => stream !== undefined);
    await pipeline([body, ...(empty ? [] : through), intoResponse(response)]);
  } catch (error) {
    body.on('error', () => undefined).destroy();
    if (!response.headersSent) for (const name of copied) response.removeHeader(name);
    throw error;
  }
}

/** `pipeline` would destroy the response itself when the upstream fails, and with it the connection of the 502. */
function intoResponse(response: ServerResponse): Writable {
  let waiting: (() => void) | undefined;
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (response.write(chunk)) done();
      else waiting = done;
    },
    final(done) {
      response.end();
      done();
    },
  });
  response.on('drain', () => {
    const resume = waiting;
    waiting = undefined;
    resume?.();
  });
  response.once('close', () => sink.destroy());
  return sink;
}
