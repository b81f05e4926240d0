import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import { linkIdentity, listIdentities, unlinkIdentity } from '../../domain/identity/index.js';
import { UserIdentity } from '../../entities/identity/user-identity.js';
import { PageArgs } from '../page.js';
import { Permission } from '../permission.js';
import { LinkIdentityInput, UserIdentityPage } from './user-identity-types.js';

@Resolver(() => UserIdentity)
export class UserIdentityResolver {
  @Query(() => UserIdentityPage, { description: 'The subjects of the OIDC issuer that are the caller.' })
  @Permission({ itsm: 'sessions:manage:own' })
  identities(
    @Ctx() context: RequestContext,
    @Args(() => PageArgs) query: PageArgs,
  ): Promise<UserIdentityPage> {
    return listIdentities(context, query);
  }

  @Mutation(() => UserIdentity, {
    description:
      'Says that a subject of the OIDC issuer is the caller: then one request may carry both tokens.',
  })
  @Permission({ itsm: 'sessions:manage:own' })
  linkIdentity(
    @Ctx() context: RequestContext,
    @Arg('input', () => LinkIdentityInput) { platformToken }: LinkIdentityInput,
  ): Promise<UserIdentity> {
    return linkIdentity(context, platformToken);
  }

  @Mutation(() => Boolean)
  @Permission({ itsm: 'sessions:manage:own' })
  async unlinkIdentity(@Ctx() context: RequestContext, @Arg('id', () => ID) id: string): Promise<boolean> {
    await unlinkIdentity(context, id);
    return true;
  }
}
