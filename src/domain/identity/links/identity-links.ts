import { LRUCache } from 'lru-cache';
import type { ItsmPrincipal, PlatformPrincipal, Services } from '../../../context.js';
import { UserIdentity } from '../../../entities/identity/user-identity.js';

/** Woken after a link was made or undone. */
export const LINKS_TOPIC = 'identity-links';
/** A change whose wake-up was lost is noticed by then. */
const FRESH_MS = 5_000;
const REMEMBERED = 10_000;

export interface IdentityLinks {
  /** Whether the subject was linked to the user, in the organization of both tokens. */
  joined(user: ItsmPrincipal, subject: PlatformPrincipal): Promise<boolean>;
  close(): void;
}

export function createIdentityLinks({ orm, wake }: Pick<Services, 'orm' | 'wake'>): IdentityLinks {
  const owners = new LRUCache<string, { userId: string | undefined }>({ max: REMEMBERED, ttl: FRESH_MS });
  let generation = 0;
  const stopListening = wake.on(LINKS_TOPIC, () => {
    generation += 1;
    owners.clear();
  });

  async function ownerOf({ issuer, subject }: PlatformPrincipal): Promise<string | undefined> {
    const key = JSON.stringify([issuer, subject]);
    const known = owners.get(key);
    if (known) return known.userId;
    const asked = generation;
    const link = await orm.em.fork().findOne(UserIdentity, { issuer, subject }, { filters: false });
    // What was read before an unlinking must not be remembered after it.
    if (asked === generation) owners.set(key, { userId: link?.userId });
    return link?.userId;
  }

  return {
    async joined(user, subject) {
      if (user.organizationId !== subject.organizationId) return false;
      return (await ownerOf(subject)) === user.userId;
    },
    close: stopListening,
  };
}
