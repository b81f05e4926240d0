import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';

@ObjectType()
export class UserLockState {
  @Field(() => ID)
  id!: string;

  @Field(() => Boolean)
  locked!: boolean;

  @Field(() => GraphQLDateTime, { nullable: true })
  lockedAt!: Date | null;

  @Field(() => Int)
  sessionsTerminated!: number;
}
