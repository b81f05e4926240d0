/** RFC 6749 section 5.1: of every answer with tokens or codes. */
export const neverStored = () => ({ 'cache-control': 'no-store' });
