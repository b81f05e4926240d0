import { param } from 'rest-graphql-bridge';

export const deviceHeader = { 'x-device-fingerprint': param.string() };

interface Sent<Input> {
  body: Input;
  headers: { readonly 'x-device-fingerprint'?: string | undefined };
}

/** The input with the device it comes from: as the body says, or else the header. */
export function withDevice<Input extends { readonly deviceFingerprint?: string | null | undefined }>({
  body,
  headers,
}: Sent<Input>) {
  return {
    input: { ...body, deviceFingerprint: body.deviceFingerprint ?? headers['x-device-fingerprint'] },
  };
}
