import type { ConnectionTarget } from '../../engines/engine.js';
import { redactSecrets } from '../../redact.js';

/** Headers of an HTTP connection that say how to answer and not who asks. */
const plainHeaders = new Set(['accept', 'accept-language', 'content-type', 'user-agent']);

/**
 * What the connections of a run are opened with. A server's error may repeat any of it, so it is taken out of all that
 * the run says, before that is written.
 */
export class ConnectionSecrets {
  readonly #known = new Set<string>();

  add(target: ConnectionTarget): ConnectionTarget {
    for (const secret of secretsOf(target)) this.#known.add(secret);
    return target;
  }

  conceal(text: string): string {
    return redactSecrets(text, this.#known);
  }
}

function secretsOf(target: ConnectionTarget): string[] {
  if (target.type === 'postgres' || target.type === 'mysql') return [target.password ?? ''];
  if (target.type === 'http') {
    return Object.entries(target.headers).flatMap(([name, value]) =>
      plainHeaders.has(name.toLowerCase()) ? [] : headerSecrets(value),
    );
  }
  return target.storage === 's3' ? [target.secretAccessKey ?? '', target.sessionToken ?? ''] : [];
}

/** RFC 9110 section 11.4: a scheme and what it proves with; RFC 7617 for Basic. */
function headerSecrets(value: string): string[] {
  const [, scheme = '', proof] = /^(Basic|Bearer) +(.+)$/i.exec(value) ?? [];
  if (proof === undefined) return [value];
  if (scheme.toLowerCase() === 'bearer') return [proof];
  const [, password = ''] = Buffer.from(proof, 'base64').toString().split(/:(.*)/s);
  return [proof, password];
}
