import type { IncomingHttpHeaders } from 'node:http';
import type { PlatformAction } from '../../domain/identity/index.js';

/** What a request to an upstream must bring: a token that allows the action, or the headers a sender signs with. */
export type Access =
  | { readonly action: PlatformAction }
  | { readonly signedBy: readonly (readonly string[])[] };

/** Platform document, Authentication 5. */
const methodActions: ReadonlyMap<string, PlatformAction> = new Map([
  ['GET', 'read'],
  ['HEAD', 'read'],
  ['OPTIONS', 'read'],
  ['POST', 'write'],
  ['PUT', 'write'],
  ['PATCH', 'write'],
  ['DELETE', 'delete'],
]);

export const ALLOWED_METHODS = [...methodActions.keys()].join(', ');

interface Exception {
  readonly methods: readonly string[];
  readonly path: RegExp;
  readonly access: Access;
}

/** Platform document, Authentication 7. The back end that knows the secrets verifies the signatures. */
const exceptions: readonly Exception[] = [
  // Each tool applies the rules to its own caller.
  { methods: ['POST', 'DELETE'], path: /^\/api\/v1\/mcp$/, access: { action: 'read' } },
  {
    methods: ['POST'],
    path: /^\/api\/v1\/orchestrator\/trigger$/,
    access: { signedBy: [['x-webhook-signature', 'x-webhook-id']] },
  },
  {
    methods: ['POST'],
    path: /^\/api\/v1\/git\/webhooks$/,
    access: { signedBy: [['x-providera-signature-256'], ['x-providerb-token']] },
  },
];

/** Undefined when the method is not served. */
export function accessOf(method: string, path: string): Access | undefined {
  const exception = exceptions.find((rule) => rule.methods.includes(method) && rule.path.test(path));
  if (exception) return exception.access;
  const action = methodActions.get(method);
  return action && { action };
}

/** Whether one of the sets of headers came complete. */
export function isSigned(headers: IncomingHttpHeaders, sets: readonly (readonly string[])[]): boolean {
  return sets.some((names) => names.every((name) => headers[name] !== undefined && headers[name] !== ''));
}
