import { GraphQLEmailAddress } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { UserRole } from '../../entities/identity/user.js';

@ObjectType({ description: 'A new pair of tokens.' })
export class TokenPair {
  @Field(() => String)
  accessToken!: string;

  @Field(() => String, { description: 'Good for 7 days and for one use.' })
  refreshToken!: string;

  @Field(() => Int, { description: 'Life of the access token in seconds.' })
  expiresIn!: number;

  @Field(() => String)
  tokenType!: string;
}

@ObjectType({ description: 'Who has just logged in.' })
export class LoggedInUser {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLEmailAddress)
  email!: string;

  @Field(() => UserRole)
  role!: UserRole;

  @Field(() => ID)
  organizationId!: string;
}

@ObjectType()
export class LoginResult extends TokenPair {
  @Field(() => LoggedInUser)
  user!: LoggedInUser;
}

@ObjectType()
export class LogoutResult {
  @Field(() => Boolean)
  revoked!: boolean;

  @Field(() => Int)
  sessionsTerminated!: number;

  @Field(() => String)
  message!: string;
}

@ObjectType({ description: 'A public key of this service (RFC 7517).' })
export class JsonWebKey {
  @Field(() => String)
  kty!: string;

  @Field(() => String)
  use!: string;

  @Field(() => String)
  alg!: string;

  @Field(() => String)
  kid!: string;

  @Field(() => String)
  n!: string;

  @Field(() => String)
  e!: string;
}

@ObjectType()
export class JsonWebKeySet {
  @Field(() => [JsonWebKey])
  keys!: JsonWebKey[];
}
