import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import {
  createSsoProvider,
  deleteSsoProvider,
  exchangeSsoCode,
  getSsoProvider,
  listSsoProviders,
  updateSsoProvider,
} from '../../domain/identity/index.js';
import { SsoProvider } from '../../entities/identity/sso-provider.js';
import { PageArgs } from '../page.js';
import { Permission } from '../permission.js';
import {
  CreateSsoProviderInput,
  SsoCodeInput,
  SsoLoginResult,
  SsoProviderPage,
  UpdateSsoProviderInput,
} from './sso-types.js';

@Resolver(() => SsoProvider)
export class SsoResolver {
  @Query(() => SsoProviderPage)
  @Permission({ itsm: 'sso:read:all' })
  ssoProviders(
    @Ctx() context: RequestContext,
    @Args(() => PageArgs) query: PageArgs,
  ): Promise<SsoProviderPage> {
    return listSsoProviders(context, query);
  }

  @Query(() => SsoProvider)
  @Permission({ itsm: 'sso:read:all' })
  ssoProvider(@Ctx() context: RequestContext, @Arg('id', () => ID) id: string): Promise<SsoProvider> {
    return getSsoProvider(context, id);
  }

  @Mutation(() => SsoProvider)
  @Permission({ itsm: 'sso:create:all' })
  createSsoProvider(
    @Ctx() context: RequestContext,
    @Arg('input', () => CreateSsoProviderInput) input: CreateSsoProviderInput,
  ): Promise<SsoProvider> {
    return createSsoProvider(context, input);
  }

  @Mutation(() => SsoProvider)
  @Permission({ itsm: 'sso:update:all' })
  updateSsoProvider(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID) id: string,
    @Arg('input', () => UpdateSsoProviderInput) input: UpdateSsoProviderInput,
  ): Promise<SsoProvider> {
    return updateSsoProvider(context, id, input);
  }

  @Mutation(() => SsoProvider, { description: 'Its users stay and log in another way.' })
  @Permission({ itsm: 'sso:delete:all' })
  deleteSsoProvider(@Ctx() context: RequestContext, @Arg('id', () => ID) id: string): Promise<SsoProvider> {
    return deleteSsoProvider(context, id);
  }

  @Mutation(() => SsoLoginResult, {
    description: 'Exchanges the one-time code a login by a provider ended with, once, for tokens.',
  })
  @Permission({ public: true })
  exchangeSsoCode(
    @Ctx() context: RequestContext,
    @Arg('input', () => SsoCodeInput) input: SsoCodeInput,
  ): Promise<SsoLoginResult> {
    return exchangeSsoCode(context, input);
  }
}
