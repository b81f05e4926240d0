import { Field, Int, ObjectType } from 'type-graphql';
import { Masked } from '../../entities/masked.js';

@ObjectType()
export class ConnectionTest {
  @Field(() => Boolean)
  success!: boolean;

  @Field(() => String, { description: 'What answered, or why nothing did.' })
  @Masked('config')
  message!: string;

  @Field(() => Int)
  latencyMs!: number;
}

@ObjectType()
export class ConnectionColumn {
  @Field(() => String)
  @Masked('config')
  name!: string;

  @Field(() => String, { description: 'As the system calls it.' })
  @Masked('config')
  type!: string;

  @Field(() => Boolean)
  nullable!: boolean;

  @Field(() => Boolean)
  primaryKey!: boolean;
}

@ObjectType()
export class ConnectionTable {
  @Field(() => String, { description: 'Empty for a file.' })
  @Masked('config')
  schema!: string;

  @Field(() => String)
  @Masked('config')
  name!: string;

  @Field(() => [ConnectionColumn])
  columns!: ConnectionColumn[];
}

@ObjectType()
export class ConnectionSchema {
  @Field(() => [ConnectionTable], { description: 'At most 1000.' })
  tables!: ConnectionTable[];

  @Field(() => Boolean, { description: 'Whether there is more than is shown.' })
  truncated!: boolean;
}
