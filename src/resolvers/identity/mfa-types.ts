import { GraphQLJSONObject } from 'graphql-scalars';
import { createUnionType, Field, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { LoginResult } from './auth-results.js';

export const MfaMethod = { totp: 'totp', webauthn: 'webauthn', backup_codes: 'backup_codes' } as const;
export type MfaMethod = (typeof MfaMethod)[keyof typeof MfaMethod];

registerEnumType(MfaMethod, { name: 'MfaMethod', description: 'ITSM document, MFA challenge.' });

@ObjectType({ description: 'The password was right; tokens come with the second factor.' })
export class MfaChallenge {
  @Field(() => Boolean, { description: 'Always true.' })
  mfaRequired!: boolean;

  @Field(() => String)
  mfaToken!: string;

  @Field(() => [MfaMethod])
  allowedMethods!: MfaMethod[];

  @Field(() => Int, { description: 'Seconds.' })
  expiresIn!: number;

  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'PublicKeyCredentialRequestOptionsJSON, when webauthn is among the methods.',
  })
  assertionOptions!: object | null;
}

export const LoginOutcome = createUnionType({
  name: 'LoginOutcome',
  description: 'Tokens, or a challenge for whoever has a second factor.',
  types: () => [LoginResult, MfaChallenge] as const,
});

@InputType()
export class VerifyMfaInput {
  @Field(() => String)
  mfaToken!: string;

  @Field(() => MfaMethod)
  method!: MfaMethod;

  @Field(() => String, { nullable: true, description: 'For totp and backup_codes.' })
  code?: string | null;

  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'AuthenticationResponseJSON, for webauthn.',
  })
  assertion?: object | null;
}

@InputType()
export class SetUpMfaInput {
  @Field(() => MfaMethod, { description: 'totp or webauthn: backup codes come with either.' })
  method!: MfaMethod;
}

@ObjectType({ description: 'Asked for at logins once it is confirmed.' })
export class MfaOffer {
  @Field(() => String, { nullable: true, description: 'Of totp, in base32.' })
  secret!: string | null;

  @Field(() => String, { nullable: true, description: 'Of totp: what the QR code says.' })
  otpauthUri!: string | null;

  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'Of webauthn: PublicKeyCredentialCreationOptionsJSON.',
  })
  creationOptions!: object | null;
}

@InputType()
export class ConfirmMfaInput {
  @Field(() => MfaMethod, { nullable: true, description: 'By default what is sent tells.' })
  method?: MfaMethod | null;

  @Field(() => String, { nullable: true, description: 'Of the authenticator app.' })
  code?: string | null;

  @Field(() => GraphQLJSONObject, { nullable: true, description: 'RegistrationResponseJSON, for webauthn.' })
  attestation?: object | null;
}

@ObjectType()
export class BackupCodes {
  @Field(() => [String], { description: 'Ten, each good for one login; shown only now.' })
  backupCodes!: string[];
}
