import type { IncomingMessage } from 'node:http';
import { type Failure, RequestRefused } from './failure.js';
import type { BodyType } from './row.js';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

const ACCEPTED: {
  readonly [K in Exclude<BodyType, 'none'>]: { readonly expected: string; readonly test: RegExp };
} = {
  json: { expected: 'application/json', test: /^application\/(?:json|[\w.!#$&^+-]+\+json)$/ },
  freeform: { expected: 'application/json', test: /^application\/(?:json|[\w.!#$&^+-]+\+json)$/ },
  text: { expected: 'text/plain', test: /^(?:text\/[\w.+-]+|application\/(?:x-)?ya?ml)$/ },
  multipart: { expected: 'multipart/form-data', test: /^multipart\/form-data$/ },
};

function refuse(failure: Failure): never {
  throw new RequestRefused(failure);
}

/** RFC 9112 section 6.3: a request has a body when it announces a length or a transfer coding. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Refuses a body of another type, in another character set, or compressed. Only called when there is a body. */
export function checkMediaType(request: IncomingMessage, type: Exclude<BodyType, 'none'>): void {
  const { expected, test } = ACCEPTED[type];
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    refuse({
      kind: 'unsupported-media-type',
      received: `content-encoding: ${encoding}`,
      expected: 'identity',
    });
  }
  const received = request.headers['content-type'] ?? '';
  const [essence = '', ...parameters] = received.split(';');
  if (!test.test(essence.trim().toLowerCase()))
    refuse({ kind: 'unsupported-media-type', received, expected });
  const charset = parameters
    .map((parameter) => parameter.trim().toLowerCase())
    .find((p) => p.startsWith('charset='));
  if (charset !== undefined && !/^charset="?(?:utf-8|utf8|us-ascii)"?$/.test(charset)) {
    refuse({ kind: 'unsupported-media-type', received, expected: `${expected}; charset=utf-8` });
  }
}

/**
 * Reads a whole body of at most `limitBytes`. Over the limit nothing more is read; the response must then close the
 * connection (see `respond`), so a client can't make the server read for ever.
 */
export function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (request.readableEnded) {
    return Promise.reject(
      new Error('The request body was already read: mount the bridge before any body parser'),
    );
  }
  const tooLarge = () => new RequestRefused({ kind: 'body-too-large', limitBytes });
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (finish: () => void) => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onError);
      finish();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limitBytes) {
        chunks.push(chunk);
        return;
      }
      request.pause();
      settle(() => reject(tooLarge()));
    };
    const onEnd = () =>
      settle(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const onClose = () => settle(() => reject(new RequestRefused(brokenOff)));
    const onError = () => settle(() => reject(new RequestRefused(brokenOff)));
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onError);
  });
}

const brokenOff: Failure = { kind: 'malformed-body', message: 'The request body ended early' };

/** RFC 3629; a broken byte sequence is refused and not replaced. */
export function decodeText(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    return refuse({ kind: 'malformed-body', message: 'The request body is not UTF-8' });
  }
}

export function parseJson(bytes: Buffer): unknown {
  const text = decodeText(bytes);
  try {
    return JSON.parse(text);
  } catch (error) {
    return refuse({ kind: 'malformed-body', message: error instanceof Error ? error.message : 'Not JSON' });
  }
}
