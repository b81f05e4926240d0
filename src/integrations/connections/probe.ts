import type { ConnectionTarget } from '../../engines/engine.js';
import { probeLocal } from './file-system.js';
import { probeHttp } from './http-system.js';
import { probeMysql } from './mysql-system.js';
import { probePostgres } from './postgres-system.js';
import { probeS3 } from './s3-system.js';

/**
 * Reaches a system with its credentials and reads as little as shows that they are good.
 * @returns a sentence about what answered
 * @throws whatever the system or its driver has against it, or the signal's reason
 */
export function probe(target: ConnectionTarget, signal: AbortSignal): Promise<string> {
  switch (target.type) {
    case 'postgres':
      return probePostgres(target, signal);
    case 'mysql':
      return probeMysql(target, signal);
    case 'http':
      return probeHttp(target, signal);
    case 'file':
      return target.storage === 's3' ? probeS3(target, signal) : probeLocal(target);
  }
}
