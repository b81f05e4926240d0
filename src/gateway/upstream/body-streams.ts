import { PassThrough, Transform } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import zlib from 'node:zlib';
import { invalidField } from '../../errors.js';
import { EventMasker } from '../../masking/event-masker.js';
import { JsonMasker } from '../../masking/json-masker.js';

const JSON_TYPE = /^application\/(?:json|x-ndjson|json-seq|[\w.!#$&^+-]+\+json) *(?:;|$)/i;
const EVENT_STREAM = /^text\/event-stream *(?:;|$)/i;

export function isEventStream(contentType: string | undefined): boolean {
  return EVENT_STREAM.test(contentType ?? '');
}

interface Masker {
  push(text: string): string;
  end(): string;
}

/** Masks a body of this type as it passes; undefined when it is none of JSON and server-sent events. */
export function maskingStream(contentType: string | undefined): Transform | undefined {
  if (isEventStream(contentType)) return maskingWith(new EventMasker());
  return JSON_TYPE.test(contentType ?? '') ? maskingWith(new JsonMasker()) : undefined;
}

function maskingWith(masker: Masker): Transform {
  const decoder = new StringDecoder('utf8');
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      pushed(done, () => masker.push(decoder.write(chunk)));
    },
    flush(done) {
      pushed(done, () => masker.push(decoder.end()) + masker.end());
    },
  });
}

function pushed(done: (error: Error | null, data?: string) => void, make: () => string): void {
  let text: string;
  try {
    text = make();
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)));
    return;
  }
  // An empty string would end nothing, but would wake the reader for nothing.
  if (text === '') done(null);
  else done(null, text);
}

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
  zstd: () => zlib.createZstdDecompress(),
};

/**
 * Takes a content coding off that an upstream used although it was asked not to; undefined when there is none.
 * @throws TypeError for a coding nobody knows, or several on top of each other
 */
export function decodingStream(contentEncoding: string | undefined): Transform | undefined {
  const coding = contentEncoding?.trim().toLowerCase() || 'identity';
  if (coding === 'identity') return undefined;
  const make = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined;
  if (!make) throw new TypeError(`The content coding ${coding} is not known`);
  return make();
}

/** U+2022 in UTF-8 or as JSON escape, three times; read as Latin-1, since a chunk may end within a character. */
const SENTINEL_BYTES = /(?:\xe2\x80\xa2|\\u2022){3}/i;
/** One less than the longest form. */
const SENTINEL_OVERLAP = 17;

/**
 * What a request's body goes through on its way to an upstream: never the request itself, because the client that sends
 * it destroys its source when it fails, and with the request goes the connection the answer has to take.
 * A JSON body that holds the mask of an answer ends with VALIDATION_ERROR before its end was sent.
 */
export function requestBodyStream(contentType: string | undefined): Transform {
  if (!JSON_TYPE.test(contentType ?? '')) return new PassThrough();
  let tail = '';
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const text = tail + chunk.toString('latin1');
      tail = text.slice(-SENTINEL_OVERLAP);
      if (SENTINEL_BYTES.test(text)) done(holdsMask());
      else done(null, chunk);
    },
  });
}

function holdsMask(): Error {
  return invalidField(
    'body',
    'isUnmasked',
    'The body holds the mask ••• of an answer; send the value itself',
  );
}
