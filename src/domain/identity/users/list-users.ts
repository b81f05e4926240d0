import type { ObjectQuery } from '@mikro-orm/core';
import { raw } from '@mikro-orm/postgresql';
import { z } from 'zod';
import { itsmCaller, type RequestContext } from '../../../context.js';
import { User, UserRole } from '../../../entities/identity/user.js';
import { type Listing, listRows } from '../../list-rows.js';
import type { Page, PageRequest, SortOrder } from '../../page.js';
import { text } from '../../storable-text.js';
import { validate } from '../../validate.js';
import { userView } from './user-view.js';

const sorts = {
  createdAt: { property: 'createdAt', column: 'created_at' },
  updatedAt: { property: 'updatedAt', column: 'updated_at' },
  email: { property: 'email', column: 'email' },
  name: { property: 'name', column: 'name' },
} as const satisfies Record<string, Listing<User>['sort']>;

export type UserSortField = keyof typeof sorts;
export const userSortFields = Object.keys(sorts) as UserSortField[];

/** Several values of one field mean any of them. */
const filterSchema = z.object({
  role: z.array(z.enum(UserRole)).max(10).nullish(),
  teamId: z.array(text().max(64)).max(100).nullish(),
  active: z.boolean().nullish(),
  /** Part of the name or the address. */
  q: text().max(255).nullish(),
});

export interface UserQuery extends PageRequest {
  filter?: z.input<typeof filterSchema> | null | undefined;
  sortBy?: UserSortField | null | undefined;
  sortOrder?: SortOrder | null | undefined;
}

/** @throws VALIDATION_ERROR, AUTHORIZATION_ERROR */
export async function listUsers(context: RequestContext, query: UserQuery): Promise<Page<User>> {
  const listing: Listing<User> = {
    entity: User,
    prefix: 'usr',
    visible: userView(itsmCaller(context)),
    filters: conditions(validate(filterSchema, query.filter ?? {})),
    sort: sorts[query.sortBy ?? 'createdAt'],
    order: query.sortOrder ?? 'desc',
  };
  return listRows(context.em, listing, query);
}

function conditions({ role, teamId, active, q }: z.output<typeof filterSchema>): ObjectQuery<User>[] {
  const found: ObjectQuery<User>[] = [];
  if (role?.length) found.push({ role: { $in: role } });
  if (active != null) found.push({ active });
  if (q) {
    const pattern = `%${q.replaceAll(/[\\%_]/g, '\\$&')}%`;
    found.push({ $or: [{ name: { $ilike: pattern } }, { email: { $ilike: pattern } }] });
  }
  if (teamId?.length) {
    const marks = teamId.map(() => '?').join(', ');
    const members = `select m.user_id from team_member m where m.team_id in (${marks})`;
    found.push({ [raw((alias) => `${alias}.id = any (array(${members}))`, teamId)]: [] });
  }
  return found;
}
