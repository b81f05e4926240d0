import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import { AuditEntry } from '../../entities/audit/audit-entry.js';
import { PageOf } from '../page.js';

@ObjectType()
export class AuditPage extends PageOf {
  @Field(() => [AuditEntry])
  data!: AuditEntry[];
}

@ArgsType()
export class AuditLogArgs {
  @Field(() => Int, { nullable: true, description: '1 when not given.' })
  page?: number | null;

  @Field(() => Int, { nullable: true, description: '25 when not given; at most 1,000.' })
  limit?: number | null;
}
