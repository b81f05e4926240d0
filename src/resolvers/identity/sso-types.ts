import { Field, InputType, ObjectType } from 'type-graphql';
import { SsoProvider } from '../../entities/identity/sso-provider.js';
import { UserRole } from '../../entities/identity/user.js';
import { PageOf } from '../page.js';
import { LoggedInUser, TokenPair } from './auth-results.js';

@ObjectType()
export class SsoProviderPage extends PageOf {
  @Field(() => [SsoProvider])
  data!: SsoProvider[];
}

@InputType()
export class SsoGroupRoleInput {
  @Field(() => String, { description: 'Id of the group as the provider sends it.' })
  group!: string;

  @Field(() => UserRole, { description: 'Any but super_admin.' })
  role!: UserRole;
}

@InputType({ description: 'What is absent stays as it is; null and an empty list take it away.' })
export class UpdateSsoProviderInput {
  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'true when absent.' })
  enabled?: boolean | null;

  @Field(() => [String], {
    nullable: true,
    description: 'https, http on a loopback address, or a private scheme; at most 20.',
  })
  redirectUris?: string[] | null;

  @Field(() => String, { nullable: true, description: 'OIDC: issuer URL. SAML: entity id of the provider.' })
  issuer?: string | null;

  @Field(() => String, { nullable: true, description: 'OIDC only.' })
  clientId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'OIDC only. Sealed; never read back, and to be sent again with another issuer.',
  })
  clientSecret?: string | null;

  @Field(() => [String], { nullable: true, description: 'OIDC: asked for beside openid.' })
  scopes?: string[] | null;

  @Field(() => String, { nullable: true, description: 'SAML only: where requests are sent.' })
  entryPoint?: string | null;

  @Field(() => [String], { nullable: true, description: 'SAML only: PEM, RSA of 2048 bits or more.' })
  certificates?: string[] | null;

  @Field(() => [String], { nullable: true, description: 'Whose e-mail addresses may enter at first.' })
  emailDomains?: string[] | null;

  @Field(() => Boolean, { nullable: true, description: 'true when absent for directory-oidc, else false.' })
  provisionUsers?: boolean | null;

  @Field(() => UserRole, { nullable: true, description: 'Any but super_admin.' })
  defaultRole?: UserRole | null;

  @Field(() => String, { nullable: true, description: 'workspace-oidc only; groups when absent.' })
  groupsClaim?: string | null;

  @Field(() => [SsoGroupRoleInput], { nullable: true, description: 'workspace-oidc only; at most 200.' })
  groupRoles?: SsoGroupRoleInput[] | null;
}

@InputType()
export class CreateSsoProviderInput extends UpdateSsoProviderInput {
  @Field(() => String, { description: 'directory-oidc, workspace-oidc, oidc or saml; one of each.' })
  provider!: string;
}

@InputType({ description: 'RFC 6749 and 7636 name them so.' })
export class SsoCodeInput {
  @Field(() => String, { description: 'Good for a minute and for one use.' })
  code!: string;

  @Field(() => String, { description: 'What the code_challenge of the login was made of.' })
  code_verifier!: string;

  @Field(() => String, {
    nullable: true,
    description: 'What the client calls its device; remembered with the session.',
  })
  deviceFingerprint?: string | null;
}

@ObjectType()
export class SsoLoggedInUser extends LoggedInUser {
  @Field(() => String, { description: 'directory-oidc, workspace-oidc, oidc or saml.' })
  ssoProvider!: string;
}

@ObjectType()
export class SsoLoginResult extends TokenPair {
  @Field(() => SsoLoggedInUser)
  user!: SsoLoggedInUser;
}
