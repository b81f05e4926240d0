import { createHash } from 'node:crypto';
import type { DuckDBConnection } from '@duckdb/node-api';
import { literal } from '../sql-text.js';

/** HMAC (RFC 2104) in SQL, since DuckDB has SHA-256 and no HMAC: sha256(key^opad || sha256(key^ipad || text)). */

const BLOCK_BYTES = 64;
const INNER = 'opsgraph_mask_inner';
const OUTER = 'opsgraph_mask_outer';

/**
 * Gives the connection the key of `hmacSql`. It goes into variables, which SQL of authors may not read, so that no error
 * message that quotes a statement can hold it. `keyHex` is the key in hexadecimal.
 */
export async function setMaskKey(connection: DuckDBConnection, keyHex: string): Promise<void> {
  const key = Buffer.from(keyHex, 'hex');
  if (key.length === 0 || key.length * 2 !== keyHex.length)
    throw new Error('The mask key is not hexadecimal.');
  const block = Buffer.alloc(BLOCK_BYTES);
  (key.length > BLOCK_BYTES ? createHash('sha256').update(key).digest() : key).copy(block);
  const padded = (pad: number) => literal(Buffer.from(block.map((byte) => byte ^ pad)).toString('hex'));
  await connection.run(`SET VARIABLE ${INNER} = from_hex(${padded(0x36)})`);
  await connection.run(`SET VARIABLE ${OUTER} = from_hex(${padded(0x5c)})`);
}

/** HMAC-SHA256 of the UTF-8 of a VARCHAR expression, in lower-case hexadecimal; null of null. */
export function hmacSql(text: string): string {
  return `sha256(getvariable('${OUTER}') || from_hex(sha256(getvariable('${INNER}') || encode(${text}))))`;
}
