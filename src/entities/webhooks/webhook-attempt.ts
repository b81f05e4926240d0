import { GraphQLDateTime } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';

/** Kept within its delivery (three at most), since nobody asks for one without the other. Times are ISO 8601. */
@ObjectType({ description: 'One POST to the receiver.' })
export class WebhookAttempt {
  @Field(() => Int)
  attempt!: number;

  @Field(() => Int, { nullable: true, description: 'Null when nothing answered.' })
  responseCode!: number | null;

  @Field(() => Int, { nullable: true })
  responseTimeMs!: number | null;

  @Field(() => GraphQLDateTime)
  attemptedAt!: string;

  @Field(() => String, { nullable: true, description: 'What went wrong when nothing answered.' })
  error!: string | null;
}
