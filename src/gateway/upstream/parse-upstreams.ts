/** A back end that serves everything below a path prefix in place of this process. */
export interface Upstream {
  /** Begins with /api/ and does not end with a slash. */
  readonly prefix: string;
  /** What answers 502, 503 and 504 call it: the last segment of the prefix. */
  readonly service: string;
  /** scheme://host:port */
  readonly origin: string;
  /** What is put in front of the request's path; empty or without a slash at the end. */
  readonly basePath: string;
}

/**
 * Reads GATEWAY_UPSTREAMS: a JSON object of prefix to URL.
 * @throws Error whose message is a sentence without its subject
 */
export function parseUpstreams(text: string): Upstream[] {
  const entries = Object.entries(objectIn(text)).map(([prefix, url]) => upstreamOf(prefix, url));
  // The longest first, so that the first that fits is the most specific one.
  return entries.sort((a, b) => b.prefix.length - a.prefix.length);
}

const PREFIX = /^\/api(?:\/[\w.~-]+)+$/;

function objectIn(text: string): object {
  const example = '{"/api/v1/copilot":"http://copilot:8000"}';
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Said below.
  }
  throw new Error(`must be a JSON object of path prefixes and URLs, such as ${example}`);
}

function upstreamOf(prefix: string, url: unknown): Upstream {
  if (!PREFIX.test(prefix)) {
    // Not repeated: whoever swaps prefix and URL may have a password in it.
    throw new Error('has a prefix that does not begin with /api/, or has a slash at its end');
  }
  if (typeof url !== 'string' || !URL.canParse(url)) throw new Error(`has no URL for ${prefix}`);
  const { protocol, origin, pathname, search, hash, username } = new URL(url);
  const plain = search === '' && hash === '' && username === '';
  if (!plain || (protocol !== 'http:' && protocol !== 'https:')) {
    throw new Error(`has a URL for ${prefix} that is not just http(s)://host:port/path`);
  }
  const service = prefix.slice(prefix.lastIndexOf('/') + 1);
  return { prefix, service, origin, basePath: pathname.replace(/\/+$/, '') };
}
