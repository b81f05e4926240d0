import { Field, InputType } from 'type-graphql';

@InputType()
export class LoginInput {
  @Field(() => String)
  email!: string;

  @Field(() => String)
  password!: string;

  @Field(() => String, {
    nullable: true,
    description: 'What the client calls its device; remembered with the session.',
  })
  deviceFingerprint?: string | null;
}

@InputType()
export class RefreshInput {
  @Field(() => String)
  refreshToken!: string;

  @Field(() => String, {
    nullable: true,
    description:
      'What the client calls its device: another one than at login is refused, an absent one is not.',
  })
  deviceFingerprint?: string | null;
}

@InputType()
export class RevokeTokenInput {
  @Field(() => String, { description: 'An access token.' })
  token!: string;
}
