import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import {
  createApiKey,
  deleteApiKey,
  getApiKey,
  listApiKeys,
  rotateApiKey,
  updateApiKey,
} from '../../domain/identity/index.js';
import { ApiKey } from '../../entities/identity/api-key.js';
import { PageArgs } from '../page.js';
import { Permission } from '../permission.js';
import { ApiKeyPage, CreateApiKeyInput, NewApiKey, UpdateApiKeyInput } from './api-key-types.js';

@Resolver(() => ApiKey)
export class ApiKeyResolver {
  @Query(() => ApiKeyPage, { description: 'The keys the caller made, or all of the organization.' })
  @Permission({ itsm: 'api_keys:read:own' })
  apiKeys(@Ctx() context: RequestContext, @Args(() => PageArgs) query: PageArgs): Promise<ApiKeyPage> {
    return listApiKeys(context, query);
  }

  @Query(() => ApiKey)
  @Permission({ itsm: 'api_keys:read:own' })
  apiKey(@Ctx() context: RequestContext, @Arg('id', () => ID) id: string): Promise<ApiKey> {
    return getApiKey(context, id);
  }

  @Mutation(() => NewApiKey)
  @Permission({ itsm: 'api_keys:create:own' })
  createApiKey(
    @Ctx() context: RequestContext,
    @Arg('input', () => CreateApiKeyInput) input: CreateApiKeyInput,
  ): Promise<NewApiKey> {
    return createApiKey(context, input);
  }

  @Mutation(() => ApiKey)
  @Permission({ itsm: 'api_keys:update:own' })
  updateApiKey(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID) id: string,
    @Arg('input', () => UpdateApiKeyInput) input: UpdateApiKeyInput,
  ): Promise<ApiKey> {
    return updateApiKey(context, id, input);
  }

  @Mutation(() => NewApiKey, { description: 'A new secret; the one before is refused at once.' })
  @Permission({ itsm: 'api_keys:update:own' })
  rotateApiKey(@Ctx() context: RequestContext, @Arg('id', () => ID) id: string): Promise<NewApiKey> {
    return rotateApiKey(context, id);
  }

  @Mutation(() => Boolean, { description: 'The key is refused at once.' })
  @Permission({ itsm: 'api_keys:delete:own' })
  async deleteApiKey(@Ctx() context: RequestContext, @Arg('id', () => ID) id: string): Promise<boolean> {
    await deleteApiKey(context, id);
    return true;
  }
}
