import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Ctx, Field, InputType, Mutation, Query, Resolver } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import { getOrganization, updateOrganization } from '../../domain/identity/index.js';
import { Organization } from '../../entities/identity/organization.js';
import { Permission } from '../permission.js';

@InputType({ description: 'What is absent stays as it is.' })
class UpdateOrganizationInput {
  @Field(() => String, { nullable: true })
  name?: string;

  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'At most 32 KiB as JSON; replaced as a whole.',
  })
  settings?: Record<string, unknown>;
}

@Resolver()
export class OrganizationResolver {
  @Query(() => Organization, { description: "The caller's." })
  @Permission({ itsm: 'organization:read:own' })
  organization(@Ctx() context: RequestContext): Promise<Organization> {
    return getOrganization(context);
  }

  @Mutation(() => Organization)
  @Permission({ itsm: 'organization:update:all' })
  updateOrganization(
    @Ctx() context: RequestContext,
    @Arg('input', () => UpdateOrganizationInput) input: UpdateOrganizationInput,
  ): Promise<Organization> {
    return updateOrganization(context, input);
  }
}
