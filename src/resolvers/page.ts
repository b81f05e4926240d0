import { ArgsType, Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { type SortOrder, sortOrders } from '../domain/page.js';

export const Order = Object.fromEntries(sortOrders.map((order) => [order, order]));
registerEnumType(Order, { name: 'SortOrder' });

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

/** What every list takes beside its filters and its field to sort by. */
@ArgsType()
export abstract class PageArgs {
  @Field(() => Int, { nullable: true, description: 'From 1. Not together with a cursor.' })
  page?: number | null;

  @Field(() => Int, { nullable: true, description: '1 to 1000, 25 when absent.' })
  limit?: number | null;

  @Field(() => Order, { nullable: true, description: 'desc when absent.' })
  sortOrder?: SortOrder | null;

  @Field(() => ID, { nullable: true, description: 'The last item already seen.' })
  startingAfter?: string | null;

  @Field(() => ID, { nullable: true, description: 'The first item already seen.' })
  endingBefore?: string | null;
}
