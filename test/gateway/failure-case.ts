import type { TestGatewayOptions } from './gateway-server.js';

export interface Sent {
  method?: string;
  path?: string;
  body?: string;
  headers?: Record<string, string>;
}

export interface Expected {
  status: number;
  headers?: Record<string, string>;
  /** code, message and details of the /v1 envelope */
  itsm: { status?: number; code: string; message: string; details: unknown };
  /** everything of the platform's body but the timestamp */
  platform: Record<string, unknown>;
}

export interface FailureCase extends TestGatewayOptions, Expected {
  name: string;
  send?: Sent;
}

/** A resolver that fails so. */
export const throwing = (error: unknown) => ({
  resolve: () => {
    throw error;
  },
});
