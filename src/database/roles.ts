import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { REQUEST_ROLE, requestPrivileges, SYSTEM_ROLE } from '../entities/row-security.js';

export type ServingRole = typeof REQUEST_ROLE | typeof SYSTEM_ROLE;

interface RoleState {
  role: string;
  /** A superuser or BYPASSRLS sees past every policy. */
  unbound: boolean;
  /** Whether the role of DATABASE_URL may become it. */
  usable: boolean;
}

const roles = [REQUEST_ROLE, SYSTEM_ROLE];
const list = roles.map((role) => `'${role}'`).join(', ');

const STATE = `select rolname as role, rolsuper or rolbypassrls as unbound,
  pg_has_role(current_user, oid, 'member') as usable from pg_roles where rolname in (${list})`;

/**
 * Makes the two roles that serve, which own nothing and cannot log in: connections are opened as the role of
 * DATABASE_URL and become one of them at once. Roles belong to the whole server, so that several databases share them.
 * @throws with a sentence saying what to do when the role of DATABASE_URL may not
 */
export async function ensureRoles(em: EntityManager): Promise<void> {
  const state = await em.execute<RoleState[]>(STATE);
  const known = new Map(state.map((row) => [row.role, row]));
  try {
    for (const role of roles) {
      // Another database of the server may be making it at this moment.
      if (!known.has(role))
        await em.execute(`do $$ begin create role ${role} nologin nosuperuser nobypassrls nocreatedb nocreaterole;
          exception when duplicate_object or unique_violation then null; end $$`);
      if (!known.get(role)?.usable) await em.execute(`grant ${role} to current_user`);
    }
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new Error(
      `The role of DATABASE_URL may not create roles. Have an administrator run: create role ${REQUEST_ROLE} nologin; ` +
        `create role ${SYSTEM_ROLE} nologin; grant ${REQUEST_ROLE}, ${SYSTEM_ROLE} to <the role of DATABASE_URL>;`,
    );
  }
  const unbound = state.filter((row) => row.unbound).map(({ role }) => role);
  if (unbound.length > 0)
    throw new Error(
      `${unbound.join(', ')} must be neither SUPERUSER nor BYPASSRLS: tenants would not be kept apart.`,
    );
}

/** insufficient_privilege, wherever in the chain of causes. */
function isForbidden(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause)
    if ('code' in current && current.code === '42501') return true;
  return false;
}

/** What each role may do with each table; in the transaction of the migrations. */
export async function grantTables(em: EntityManager): Promise<void> {
  await em.execute(`grant usage on schema public to ${roles.join(', ')}`);
  await em.execute(`grant usage on all sequences in schema public to ${roles.join(', ')}`);
  for (const meta of em.getMetadata().getAll().values()) {
    const allowed = requestPrivileges(meta);
    await em.execute(`grant select, insert, update, delete on "${meta.tableName}" to ${SYSTEM_ROLE}`);
    await em.execute(`revoke all on "${meta.tableName}" from ${REQUEST_ROLE}`);
    if (allowed.length > 0)
      await em.execute(`grant ${allowed.join(', ')} on "${meta.tableName}" to ${REQUEST_ROLE}`);
  }
}

/**
 * Behind a policy PostgreSQL uses an index only for operators marked leakproof, and the one of full text is not, although
 * it fails for no value: without the mark a search reads every ticket of its tenant (1.9 instead of 0.3 ms for 10,000).
 * Only a superuser may set it, which the role of DATABASE_URL need not be.
 */
export async function letSearchUseItsIndex(em: EntityManager): Promise<void> {
  const [row] = await em.execute<{ missing: boolean }[]>(
    `select rolsuper and not (select proleakproof from pg_proc where oid = 'ts_match_vq'::regproc) as missing
     from pg_roles where rolname = current_user`,
  );
  if (row?.missing) await em.execute('alter function ts_match_vq(tsvector, tsquery) leakproof');
}

/** Before the first request. @throws when what is to serve requests could see past the policies */
export async function requireWall(orm: MikroORM): Promise<void> {
  const [row] = await orm.em
    .fork()
    .execute<{ role: string; active: boolean }[]>(
      `select current_user as role, row_security_active('"user"') as active`,
    );
  if (row?.role === REQUEST_ROLE && row.active) return;
  throw new Error(`Requests would be served as ${row?.role}, for whom row-level security is off.`);
}
