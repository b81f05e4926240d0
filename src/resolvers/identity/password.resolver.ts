import { Arg, Ctx, Field, InputType, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import { changePassword, requestPasswordReset, resetPassword } from '../../domain/identity/index.js';
import { Permission } from '../permission.js';

@InputType()
class ForgotPasswordInput {
  @Field(() => String)
  email!: string;
}

@InputType()
class ResetPasswordInput {
  @Field(() => String, { description: 'From the link that came by e-mail; good once.' })
  token!: string;

  @Field(() => String, { description: '12 to 128 characters.' })
  password!: string;
}

@InputType()
class ChangePasswordInput {
  @Field(() => String)
  current!: string;

  @Field(() => String, { description: '12 to 128 characters.' })
  password!: string;
}

@ObjectType({ description: 'The same whether or not anybody has the address.' })
class PasswordAskedResult {
  @Field(() => Boolean)
  accepted!: boolean;

  @Field(() => String)
  message!: string;
}

@ObjectType()
class PasswordSetResult {
  @Field(() => Boolean)
  changed!: boolean;

  @Field(() => Int)
  sessionsTerminated!: number;

  @Field(() => String)
  message!: string;
}

@Resolver()
export class PasswordResolver {
  @Permission({ public: true })
  @Mutation(() => PasswordAskedResult, { description: 'Sends a link that sets a new password.' })
  requestPasswordReset(
    @Arg('input', () => ForgotPasswordInput) input: ForgotPasswordInput,
    @Ctx() context: RequestContext,
  ): Promise<PasswordAskedResult> {
    return requestPasswordReset(context, input);
  }

  @Permission({ public: true })
  @Mutation(() => PasswordSetResult, { description: 'Sets the password and ends every session.' })
  resetPassword(
    @Arg('input', () => ResetPasswordInput) input: ResetPasswordInput,
    @Ctx() context: RequestContext,
  ): Promise<PasswordSetResult> {
    return resetPassword(context, input);
  }

  @Permission({ itsm: 'sessions:manage:own' })
  @Mutation(() => PasswordSetResult, { description: "The caller's own; every other session ends." })
  changePassword(
    @Arg('input', () => ChangePasswordInput) input: ChangePasswordInput,
    @Ctx() context: RequestContext,
  ): Promise<PasswordSetResult> {
    return changePassword(context, input);
  }
}
