import { generateKeyPairSync, sign, X509Certificate } from 'node:crypto';

export interface CertifiedKey {
  privateKey: string;
  certificate: string;
}

/** DER (X.690): tag, length, content. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  if (length < 128) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = Buffer.from(length.toString(16).padStart(length > 255 ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | bytes.length]), bytes, content]);
}

const SEQUENCE = 0x30;
const commonName = Buffer.from('0603550403', 'hex');
const sha256WithRsa = Buffer.from('300d06092a864886f70d01010b0500', 'hex');

/** A key and a certificate it signed itself (RFC 5280), which Node verifies but cannot make. */
export function selfSigned(name: string, modulusLength = 2_048): CertifiedKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength });
  const subject = der(SEQUENCE, der(0x31, der(SEQUENCE, commonName, der(0x0c, Buffer.from(name)))));
  const validity = der(
    SEQUENCE,
    der(0x17, Buffer.from('200101000000Z')),
    der(0x17, Buffer.from('491231235959Z')),
  );
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const version3 = der(0xa0, der(0x02, Buffer.from([2])));
  const serial = der(0x02, Buffer.from([1]));
  const body = der(SEQUENCE, version3, serial, sha256WithRsa, subject, validity, subject, spki);
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const certificate = new X509Certificate(der(SEQUENCE, body, sha256WithRsa, signature)).toString();
  return { privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), certificate };
}
