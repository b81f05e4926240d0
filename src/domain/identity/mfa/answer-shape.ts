import { z } from 'zod';
import type { Assertion, Attestation } from './webauthn.js';

const base64url = z.string().min(1).max(65_536);

export const answerFields = { code: z.string().min(1).max(64) };

/** What the library reads without asking; the rest it checks itself. */
export const assertionShape = z.looseObject({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.looseObject({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
  }),
}) as unknown as z.ZodType<Assertion>;

export const attestationShape = z.looseObject({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.looseObject({ clientDataJSON: base64url, attestationObject: base64url }),
}) as unknown as z.ZodType<Attestation>;
