import { GraphQLError } from 'graphql';
import { GraphQLDateTime, GraphQLJSONObject } from 'graphql-scalars';
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  createUnionType,
  Field,
  FieldResolver,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import type { RequestContext } from '../../src/context.js';
import { AppError, notFound, unavailable } from '../../src/errors.js';
import { Permission } from '../../src/resolvers/permission.js';

/** A graph that is small and has one of everything the graph's rules speak of. */

@ObjectType()
export class Author {
  @Field(() => ID, { name: 'authorId' })
  id!: string;

  @Field(() => String)
  name!: string;
}

@ObjectType()
export class Book {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  title!: string;

  @Field(() => GraphQLDateTime)
  printedAt!: Date;

  @Field(() => GraphQLJSONObject)
  marks!: Record<string, unknown>;
}

@ObjectType()
export class Film {
  @Field(() => ID)
  id!: string;

  @Field(() => Int)
  minutes!: number;
}

export const Work = createUnionType({ name: 'Work', types: () => [Book, Film] as const });

@ObjectType()
export class BookPage {
  @Field(() => [Book])
  data!: Book[];

  @Field(() => Int)
  total!: number;
}

@ObjectType()
export class Tick {
  @Field(() => Int)
  n!: number;

  @Field(() => String)
  caller!: string;
}

@InputType()
export class EchoInput {
  @Field(() => String, { nullable: true })
  text?: string | null;

  @Field(() => Int, { nullable: true, defaultValue: 5 })
  number?: number | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  at?: Date | null;

  @Field(() => [String], { nullable: true })
  tags?: string[] | null;
}

@ArgsType()
export class EchoArgs {
  @Field(() => EchoInput, { nullable: true })
  input?: EchoInput | null;

  @Field(() => String, { nullable: true, defaultValue: 'unsaid' })
  word?: string | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  at?: Date | null;

  @Field(() => [String], { nullable: true })
  list?: string[] | null;
}

const author = { id: 'a1', name: 'Lem' };

export function book(n: number): Book {
  return Object.assign(new Book(), {
    id: `b${n}`,
    title: `Volume ${n}`,
    printedAt: new Date(Date.UTC(1961, 0, n)),
    marks: { pages: n },
  });
}

const failures: Record<string, () => Error> = {
  missing: () => notFound('book', 'b9'),
  secret: () => new Error('password=hunter2'),
  away: () => unavailable('database', 5),
  graphql: () => new GraphQLError('no code at all'),
};

@Resolver(() => Book)
export class LibraryResolver {
  @Query(() => BookPage)
  @Permission({ itsm: 'tickets:read:own' })
  async books(@Arg('limit', () => Int, { defaultValue: 25 }) limit: number): Promise<BookPage> {
    return { data: Array.from({ length: limit }, (_, n) => book(n + 1)), total: 3 };
  }

  @Query(() => [Work])
  @Permission({ public: true })
  works(): (typeof Work)[] {
    return [book(1), Object.assign(new Film(), { id: 'f1', minutes: 166 })];
  }

  @Query(() => Book)
  @Permission({ public: true })
  book(): Book {
    return book(1);
  }

  /** What arrived, so that absent, null and default can be told apart from outside. */
  @Query(() => String)
  @Permission({ public: true })
  echo(@Args(() => EchoArgs) { input, word, at, list }: EchoArgs): string {
    return JSON.stringify({ input, word, at: describe(at), inputAt: describe(input?.at), list });
  }

  @Query(() => String, { nullable: true })
  @Permission({ public: true })
  fails(@Arg('how', () => String) how: string): string {
    throw failures[how]?.() ?? new AppError('VALIDATION_ERROR', 'unknown failure');
  }

  @Query(() => String)
  @Permission({ platform: 'read' })
  catalogue(@Ctx() { caller }: RequestContext): string {
    return caller.platform?.subject ?? 'nobody';
  }

  @Mutation(() => Boolean)
  @Permission({ platform: 'delete' })
  burn(): boolean {
    return true;
  }

  @FieldResolver(() => Author)
  author(): Author {
    return author;
  }

  @FieldResolver(() => Book)
  original(): Book {
    return book(1);
  }

  @FieldResolver(() => [Book])
  sequels(@Root() root: Book): Book[] {
    return [book(Number(root.id.slice(1)) + 1)];
  }

  @Subscription(() => Tick, { subscribe: ({ args }) => clock.follow(args.name) })
  @Permission({ itsm: 'tickets:read:own' })
  ticks(
    @Root() n: number,
    @Arg('name', () => String) _name: string,
    @Arg('failAt', () => Int, { nullable: true }) failAt: number | null,
    @Ctx() { caller }: RequestContext,
  ): Tick {
    if (n === failAt) throw new Error('password=hunter2');
    return { n, caller: caller.itsm?.userId ?? 'nobody' };
  }
}

function describe(value: unknown): unknown {
  return value instanceof Date ? `date ${value.toISOString()}` : value;
}

/** A source under the test's hand: what is waiting for a tick, and what was told to stop. */
export class Clock {
  readonly following = new Set<string>();
  readonly #feeds = new Map<string, (n: number) => void>();

  follow(name: string): AsyncIterableIterator<number> {
    const ready: number[] = [];
    let waiting: ((step: IteratorResult<number>) => void) | undefined;
    let ended = false;
    this.following.add(name);
    this.#feeds.set(name, (n) => {
      if (waiting) waiting({ done: false, value: n });
      else ready.push(n);
      waiting = undefined;
    });
    const end = () => {
      ended = true;
      this.following.delete(name);
      waiting?.({ done: true, value: undefined });
    };
    return {
      next: () => {
        const value = ready.shift();
        if (value !== undefined) return Promise.resolve({ done: false, value });
        if (ended) return Promise.resolve({ done: true, value: undefined });
        return new Promise((resolve) => {
          waiting = resolve;
        });
      },
      return: () => {
        end();
        return Promise.resolve({ done: true, value: undefined });
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  tick(name: string, n: number): void {
    const feed = this.#feeds.get(name);
    if (!feed) throw new Error(`Nobody follows ${name}`);
    feed(n);
  }
}

export const clock = new Clock();
