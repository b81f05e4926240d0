import { GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';
import { ArgsType, Field, ObjectType } from 'type-graphql';
import { Event } from '../../entities/events/event.js';
import { PageArgs, PageOf } from '../page.js';

@ObjectType()
export class EventPage extends PageOf {
  @Field(() => [Event])
  data!: Event[];
}

@ArgsType()
export class EventsArgs extends PageArgs {
  @Field(() => [String], { nullable: true, description: 'All of them when absent.' })
  types?: string[] | null;

  @Field(() => GraphQLSafeInt, {
    nullable: true,
    description: 'seq of the last event seen; with sortOrder asc the log goes on from there.',
  })
  after?: number | null;
}

@ObjectType({ description: 'A row of the catalogue of events.' })
export class EventTypeInfo {
  @Field(() => String)
  type!: string;

  @Field(() => String)
  category!: string;

  @Field(() => String)
  meaning!: string;

  @Field(() => GraphQLJSONObject, { description: 'JSON Schema (2020-12) of the payload.' })
  schema!: Record<string, unknown>;
}
