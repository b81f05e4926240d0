import { expect, it } from '@jest/globals';
import { parseConfig } from '../../../src/config.js';
import type { ItsmPrincipal } from '../../../src/context.js';
import { callerClaims } from '../../../src/gateway/rate-limit/caller-claims.js';
import { createMemoryStore } from '../../../src/gateway/rate-limit/memory-store.js';

const { rateLimits } = parseConfig({}, '/');
const user: ItsmPrincipal = {
  userId: 'usr_1',
  email: 'a@acme.test',
  organizationId: 'org_1',
  role: 'service_desk_agent',
  sessionId: 'ses_1',
  tokenId: 'tok_1',
  permissions: [],
};

it('a key is counted by its own rate and with its organization; one that is used up leaves the others alone', async () => {
  const store = createMemoryStore(() => 0);
  const take = async (itsm: ItsmPrincipal) =>
    (await store.take(callerClaims({ itsm }, rateLimits))).every(({ allowed }) => allowed);
  const passed = async (itsm: ItsmPrincipal, count: number) =>
    (await Promise.all(Array.from({ length: count }, () => take(itsm)))).filter(Boolean).length;

  expect(await passed({ ...user, apiKey: { id: 'key_1', perMinute: 30 } }, 150)).toBe(30);
  expect(await passed({ ...user, apiKey: { id: 'key_2', perMinute: 50 } }, 150)).toBe(50);
  expect(await passed(user, 6_000)).toBe(1_200 - 80);
  expect(await passed({ ...user, organizationId: 'org_2' }, 1)).toBe(1);
});
