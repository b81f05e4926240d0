import type { Caller } from '../../context.js';
import { bucketOf, type Claim } from './limit.js';
import type { LimitValues } from './limit-table.js';

/** What a request is counted against once its sender is known: the API key it came with and the organization. */
export function callerClaims({ itsm }: Caller, values: LimitValues): Claim[] {
  if (!itsm) return [];
  const organization: Claim = {
    key: `organization|${itsm.organizationId}`,
    limit: bucketOf(values.organization, values.organizationBurst),
  };
  const key = keyOf({ itsm });
  if (!key) return [organization];
  return [{ key: `key|${key.id}`, limit: bucketOf(key.perMinute, key.perMinute) }, organization];
}

/** The API key a request came with, and how many requests a minute it may send. */
export function keyOf({ itsm }: Caller): { readonly id: string; readonly perMinute: number } | undefined {
  return itsm?.apiKey;
}
