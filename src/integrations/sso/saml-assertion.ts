import { z } from 'zod';

/** As xml2js gives it: every element a list, text under `_`, attributes under `$`. */
const confirmation = z.object({
  $: z.object({ Method: z.string() }),
  SubjectConfirmationData: z.tuple([
    z.object({ $: z.object({ Recipient: z.string(), NotOnOrAfter: z.string(), InResponseTo: z.string() }) }),
  ]),
});

const assertionShape = z.object({
  Assertion: z.object({
    Issuer: z.tuple([z.object({ _: z.string() })]),
    Subject: z.tuple([
      z.object({
        NameID: z.tuple([
          z.object({ _: z.string(), $: z.object({ Format: z.string() }).partial().optional() }),
        ]),
        SubjectConfirmation: z.array(z.unknown()).min(1),
      }),
    ]),
    AuthnStatement: z.array(z.unknown()).min(1),
  }),
});

const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';

export interface AssertedSubject {
  nameId: string;
  format: string | undefined;
}

/**
 * What node-saml leaves to its caller: a bearer confirmation meant for this address, for this request, in time (SAML
 * profiles section 4.1.4.2 and 4.1.4.3), and a name that stays the person's.
 * @param assertion the signed part and nothing else
 * @throws Error that says what is wrong
 */
export function assertedSubject(
  assertion: unknown,
  expected: { recipient: string; requestId: string; issuer: string; now: Date; clockSkewMs: number },
): AssertedSubject {
  const { Issuer, Subject } = assertionShape.parse(assertion).Assertion;
  if (Issuer[0]._ !== expected.issuer) throw new Error('another issuer');
  const [{ NameID, SubjectConfirmation }] = Subject;
  const confirmed = SubjectConfirmation.some((candidate) => {
    const parsed = confirmation.safeParse(candidate);
    if (!parsed.success || parsed.data.$.Method !== BEARER) return false;
    const { Recipient, NotOnOrAfter, InResponseTo } = parsed.data.SubjectConfirmationData[0].$;
    const isInTime = Date.parse(NotOnOrAfter) + expected.clockSkewMs > expected.now.getTime();
    return Recipient === expected.recipient && InResponseTo === expected.requestId && isInTime;
  });
  if (!confirmed) throw new Error('no subject confirmation for this address and request');
  const [{ _: nameId, $: attributes }] = NameID;
  if (attributes?.Format === TRANSIENT) throw new Error('a transient name, which is somebody else tomorrow');
  return { nameId, format: attributes?.Format };
}
