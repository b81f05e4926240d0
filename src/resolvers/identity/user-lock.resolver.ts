import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import { lockUser, unlockUser } from '../../domain/identity/index.js';
import { Permission } from '../permission.js';
import { UserLockState } from './user-lock-state.js';

@Resolver()
export class UserLockResolver {
  @Permission({ itsm: 'users:manage:all' })
  @Mutation(() => UserLockState, { description: 'Ends every session of a user and lets them in no more.' })
  lockUser(@Arg('id', () => ID) id: string, @Ctx() context: RequestContext): Promise<UserLockState> {
    return lockUser(context, id);
  }

  @Permission({ itsm: 'users:manage:all' })
  @Mutation(() => UserLockState, { description: 'Undoes a lock, also one that failed logins led to.' })
  unlockUser(@Arg('id', () => ID) id: string, @Ctx() context: RequestContext): Promise<UserLockState> {
    return unlockUser(context, id);
  }
}
