import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

export interface KeyPair {
  /** PEM. */
  cert: string;
  /** PEM, PKCS #8. */
  key: string;
}

export interface CertificateAuthority {
  /** PEM. */
  readonly cert: string;
  issue(names: { dns?: string[]; ip?: string[] }): Promise<KeyPair>;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const crypto = webcrypto as unknown as Parameters<typeof X509CertificateGenerator.create>[1];
const DAY_MS = 86_400_000;

const keys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
const validity = () => ({
  notBefore: new Date(Date.now() - DAY_MS),
  notAfter: new Date(Date.now() + DAY_MS),
});

/** An authority that nobody trusts until told to. */
export async function createCertificateAuthority(): Promise<CertificateAuthority> {
  const own = await keys();
  const root = await X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: '01',
      name: 'CN=Opsgraph test authority',
      ...validity(),
      signingAlgorithm: algorithm,
      keys: own,
      extensions: [
        new BasicConstraintsExtension(true, 1, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      ],
    },
    crypto,
  );
  let serial = 1;
  return {
    cert: root.toString('pem'),
    async issue({ dns = [], ip = [] }) {
      const pair = await keys();
      serial += 1;
      const names = [
        ...dns.map((value) => ({ type: 'dns' as const, value })),
        ...ip.map((value) => ({ type: 'ip' as const, value })),
      ];
      const cert = await X509CertificateGenerator.create(
        {
          serialNumber: serial.toString(16).padStart(2, '0'),
          subject: 'CN=receiver',
          issuer: root.subject,
          ...validity(),
          signingAlgorithm: algorithm,
          signingKey: own.privateKey,
          publicKey: pair.publicKey,
          extensions: [
            new SubjectAlternativeNameExtension(names),
            await AuthorityKeyIdentifierExtension.create(root.publicKey, false, crypto),
          ],
        },
        crypto,
      );
      const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', pair.privateKey));
      const lines = pkcs8.toString('base64').match(/.{1,64}/g) ?? [];
      const key = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n');
      return { cert: cert.toString('pem'), key };
    },
  };
}
