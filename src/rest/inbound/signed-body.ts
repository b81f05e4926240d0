import type { IncomingHttpHeaders } from 'node:http';
import express, { type RequestHandler } from 'express';
import { AppError, invalidField } from '../../errors.js';

const MAX_BODY_BYTES = 1_048_576;
const JSON_TYPE = /^application\/(?:json|[\w.!#$&^+-]+\+json) *(?:;|$)/i;

/** Finds the sender's secret and compares. @throws AUTHENTICATION_ERROR */
export type VerifySignature = (body: Buffer, headers: IncomingHttpHeaders) => void | Promise<void>;

/**
 * Middleware for a route whose sender signs the bytes of the body: reads at most 1 MiB, verifies, and only then
 * parses JSON into `request.body`. Failures go to `next`: 413, 401, then 415 and 400, so that a stranger learns nothing
 * about the body. Mount it before any body parser.
 */
export function signedBody(verify: VerifySignature): RequestHandler[] {
  // Inflating would verify other bytes than were signed.
  const read = express.raw({ type: () => true, limit: MAX_BODY_BYTES, inflate: false });
  const check: RequestHandler = async (request, _response, next) => {
    // Without a body express.raw leaves undefined.
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    await verify(body, request.headers);
    if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) {
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The content type must be application/json');
    }
    request.body = parse(body);
    next();
  };
  return [read, check];
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalidField('body', 'isJson', `The body is not valid JSON: ${reason}`);
  }
}
