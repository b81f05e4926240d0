import type { EntityManager } from '@mikro-orm/postgresql';
import { errors } from 'oidc-provider';
import type { Services } from '../context.js';
import { describeFailure } from '../describe-failure.js';

/**
 * A look into the database on behalf of the issuer. When it is away the caller hears `temporarily_unavailable` with
 * 503 (RFC 6749 section 4.1.2.1) in the issuer's own format, and not that the issuer is broken.
 */
export async function query<T>(
  { orm }: Pick<Services, 'orm'>,
  work: (em: EntityManager) => Promise<T>,
): Promise<T> {
  try {
    return await work(orm.em.fork());
  } catch (error) {
    if (describeFailure(error).code !== 'SERVICE_UNAVAILABLE') throw error;
    const away = new errors.OIDCProviderError(503, 'temporarily_unavailable', { cause: error });
    throw Object.assign(away, { expose: true, error_description: 'the database is unavailable' });
  }
}
