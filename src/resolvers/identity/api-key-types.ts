import { GraphQLDateTime } from 'graphql-scalars';
import { Field, InputType, Int, ObjectType } from 'type-graphql';
import { ApiKey } from '../../entities/identity/api-key.js';
import { PageOf } from '../page.js';

@ObjectType()
export class ApiKeyPage extends PageOf {
  @Field(() => [ApiKey])
  data!: ApiKey[];
}

@ObjectType({ description: 'A key that was just made.' })
export class NewApiKey extends ApiKey {
  @Field(() => String, { description: 'The key itself, shown this once.' })
  key!: string;
}

@InputType()
export class CreateApiKeyInput {
  @Field(() => String)
  name!: string;

  @Field(() => [String], { description: 'resource:action:scope; none that its creator lacks.' })
  permissions!: string[];

  @Field(() => Int, { nullable: true, description: '600 when absent, unless configured otherwise.' })
  rateLimitPerMinute?: number | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  expiresAt?: Date | null;
}

@InputType({ description: 'What is absent stays; null for expiresAt means no expiry.' })
export class UpdateApiKeyInput {
  @Field(() => String, { nullable: true })
  name?: string;

  @Field(() => [String], { nullable: true })
  permissions?: string[];

  @Field(() => Int, { nullable: true })
  rateLimitPerMinute?: number;

  @Field(() => GraphQLDateTime, { nullable: true })
  expiresAt?: Date | null;
}
