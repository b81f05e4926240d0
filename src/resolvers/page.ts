import { Field, ID, Int, ObjectType } from 'type-graphql';

@ObjectType({ description: 'ITSM document, Pagination metadata.' })
export class Pagination {
  @Field(() => Int, { nullable: true, description: 'Null in cursor mode.' })
  page!: number | null;

  @Field(() => Int)
  limit!: number;

  @Field(() => Int)
  total!: number;

  @Field(() => Int, { description: 'total divided by limit, rounded up.' })
  totalPages!: number;

  @Field(() => Boolean)
  hasMore!: boolean;
}

@ObjectType()
export class PageMeta {
  @Field(() => Pagination)
  pagination!: Pagination;
}

/** What the pages of all lists have beside their `data`. */
@ObjectType()
export abstract class PageOf {
  @Field(() => PageMeta)
  meta!: PageMeta;

  @Field(() => Boolean, {
    nullable: true,
    description: 'In cursor mode: whether more lies in the direction of travel.',
  })
  hasMore!: boolean | null;

  @Field(() => ID, { nullable: true, description: 'In cursor mode: the id to pass on.' })
  cursor!: string | null;
}
