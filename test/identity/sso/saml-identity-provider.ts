import { randomBytes } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { SignedXml } from 'xml-crypto';
import type { CertifiedKey } from './certificate.js';

export const IDP_ENTITY = 'https://idp.example/metadata';

const EXCLUSIVE_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';

export interface Response {
  requestId: string;
  acs: string;
  audience: string;
  /** The content of NameID, as XML. */
  nameId: string;
  nameIdFormat: string;
  /** Attributes by name, as XML. */
  attributes: Record<string, string>;
  issuer: string;
  recipient: string;
  confirmedRequestId: string;
  issuedAt: Date;
  notOnOrAfter: Date;
}

interface Signing {
  key: CertifiedKey;
  signatureAlgorithm?: string;
  digestAlgorithm?: string;
  canonicalization?: string;
}

const newId = () => `_${randomBytes(16).toString('hex')}`;

/** What a browser brings to the provider by redirect. */
export function readRequest(url: URL): { id: string; xml: string; relayState: string } {
  const xml = inflateRawSync(Buffer.from(`${url.searchParams.get('SAMLRequest')}`, 'base64')).toString();
  const id = /\bID="([^"]+)"/.exec(xml)?.[1];
  return { id: `${id}`, xml, relayState: `${url.searchParams.get('RelayState')}` };
}

export function assertionXml(response: Response, id = newId()): string {
  const { issuedAt, notOnOrAfter } = response;
  const attributes = Object.entries(response.attributes).map(
    ([name, value]) =>
      `<saml:Attribute Name="${name}"><saml:AttributeValue>${value}</saml:AttributeValue></saml:Attribute>`,
  );
  const until = notOnOrAfter.toISOString();
  return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${issuedAt.toISOString()}"><saml:Issuer>${response.issuer}</saml:Issuer><saml:Subject><saml:NameID Format="${response.nameIdFormat}">${response.nameId}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData InResponseTo="${response.confirmedRequestId}" Recipient="${response.recipient}" NotOnOrAfter="${until}"/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${issuedAt.toISOString()}" NotOnOrAfter="${until}"><saml:AudienceRestriction><saml:Audience>${response.audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AuthnStatement AuthnInstant="${issuedAt.toISOString()}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement>${attributes.join('')}</saml:AttributeStatement></saml:Assertion>`;
}

export function responseXml({ requestId, acs, issuer, issuedAt }: Response, ...content: string[]): string {
  return `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="${newId()}" Version="2.0" IssueInstant="${issuedAt.toISOString()}" Destination="${acs}" InResponseTo="${requestId}"><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>${content.join('')}</samlp:Response>`;
}

/** Signs the element of that name the document has, enveloped, after its Issuer (SAML core section 5.4). */
export function signed(xml: string, element: 'Assertion' | 'Response', signing: Signing): string {
  const { key, canonicalization = EXCLUSIVE_C14N } = signing;
  const path = element === 'Response' ? '/*' : "//*[local-name(.)='Assertion']";
  const signer = new SignedXml({
    privateKey: key.privateKey,
    publicCert: key.certificate,
    signatureAlgorithm: signing.signatureAlgorithm ?? 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    canonicalizationAlgorithm: EXCLUSIVE_C14N,
  });
  signer.addReference({
    xpath: path,
    transforms: [ENVELOPED, canonicalization],
    digestAlgorithm: signing.digestAlgorithm ?? 'http://www.w3.org/2001/04/xmlenc#sha256',
  });
  signer.computeSignature(xml, {
    location: { reference: `${path}/*[local-name(.)='Issuer']`, action: 'after' },
  });
  return signer.getSignedXml();
}

export function signatureIn(xml: string): string {
  const found = /<Signature [\s\S]*?<\/Signature>/.exec(xml)?.[0];
  if (found === undefined) throw new Error('no signature');
  return found;
}
