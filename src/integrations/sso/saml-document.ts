/**
 * Every value an attribute called Algorithm may have. RSA with SHA-1 is out since collisions are bought for money, and
 * so is canonicalisation that keeps comments, which text is not compared with.
 */
const algorithms = new Set([
  'http://www.w3.org/2001/10/xml-exc-c14n#',
  'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
  'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
]);

const ALGORITHM = /\bAlgorithm\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/**
 * The XML of a response, as far as it can be judged before it is parsed: no document type, and so no entities to hide
 * an algorithm behind or to expand without end.
 * @throws Error that says what is wrong
 */
export function samlDocument(encoded: string): string {
  const xml = Buffer.from(encoded, 'base64').toString('utf8');
  if (/<!DOCTYPE/i.test(xml)) throw new Error('a document type');
  for (const [, quoted, apostrophised] of xml.matchAll(ALGORITHM)) {
    const algorithm = quoted ?? apostrophised ?? '';
    if (!algorithms.has(algorithm)) throw new Error(`the algorithm ${algorithm.slice(0, 200)}`);
  }
  return xml;
}
