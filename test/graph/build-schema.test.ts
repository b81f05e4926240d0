/**
 * The types it declares would stay in the graph of later files.
 * @jest-environment node
 */
import { describe, expect, it } from '@jest/globals';
import { type GraphQLObjectType, type GraphQLSchema, isObjectType } from 'graphql';
import {
  Arg,
  type ClassType,
  createUnionType,
  Field,
  InputType,
  ObjectType,
  Query,
  Resolver,
  Subscription,
} from 'type-graphql';
import { buildGraph } from '../../src/graph/build-schema.js';
import { resolvers } from '../../src/resolvers/index.js';
import { Permission, requirementOf } from '../../src/resolvers/permission.js';
import { Book, Film, LibraryResolver } from './library.js';

const rootFields = (schema: GraphQLSchema) =>
  [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}).map((field) => ({ name: `${type?.name}.${field.name}`, field })),
  );

describe('the graph of this application', () => {
  const schema = buildGraph(resolvers);

  it('names a permission on every root field', () => {
    const fields = rootFields(schema);
    expect(fields.length).toBeGreaterThan(10);
    expect(fields.filter(({ field }) => requirementOf(field) === undefined)).toEqual([]);
  });

  it('leaves open to everyone only what has to be', () => {
    const open = rootFields(schema).filter(({ field }) => 'public' in (requirementOf(field) ?? {}));
    expect(open.map(({ name }) => name).toSorted()).toEqual([
      'Mutation.exchangeSsoCode',
      'Mutation.login',
      'Mutation.refreshTokens',
      'Mutation.requestPasswordReset',
      'Mutation.resetPassword',
      'Mutation.verifyMfa',
      'Query.jsonWebKeySet',
    ]);
  });

  /** What is shown because it is made to be: once, at its making, or as proof that nothing was changed. */
  const meantToBeShown = new Set([
    'AuditEntry.hash',
    'AuditEntry.previousHash',
    'MfaOffer.secret',
    'NewWebhook.secret',
  ]);

  it('shows no field that holds a secret', () => {
    const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
    const names = Object.values(schema.getTypeMap())
      .filter((type) => isObjectType(type) && !roots.includes(type))
      .flatMap((type) =>
        Object.keys((type as GraphQLObjectType).getFields()).map((field) => [type.name, field]),
      );
    const shown = names.filter(([, field]) => /hash|secret|password|sealed|credential/i.test(field ?? ''));
    expect(shown.map((name) => name.join('.')).filter((name) => !meantToBeShown.has(name))).toEqual([]);
  });
});

describe('plain fields', () => {
  it('are read without a resolver, unless the property has another name', () => {
    const schema = buildGraph([LibraryResolver]);
    const fields = (name: string) => (schema.getType(name) as GraphQLObjectType).getFields();
    expect(fields('Book')['title']?.resolve).toBeUndefined();
    expect(fields('Author')['authorId']?.resolve).toBeDefined();
  });
});

describe('a graph that must not start', () => {
  @Resolver()
  class OpenByMistake {
    @Query(() => String)
    forgotten(): string {
      return '';
    }

    @Subscription(() => String, { topics: 'x' })
    alsoForgotten(): string {
      return '';
    }
  }

  const Guess = createUnionType({
    name: 'Guess',
    types: () => [Book, Film] as const,
    resolveType: () => Book,
  });

  @Resolver()
  class GuessesTypes {
    @Query(() => Guess)
    @Permission({ public: true })
    guess(): typeof Guess {
      return new Book();
    }
  }

  @InputType()
  class Defaulted {
    @Field(() => String, { defaultValue: 'x' })
    word!: string;
  }

  @ObjectType()
  class Echo {
    @Field(() => String)
    word!: string;
  }

  @Resolver()
  class TakesDefaulted {
    @Query(() => Echo)
    @Permission({ public: true })
    take(@Arg('input', () => Defaulted) input: Defaulted): Echo {
      return { word: input.word };
    }
  }

  const refused: [string, ClassType, RegExp][] = [
    [
      'has open root fields',
      OpenByMistake,
      /Query\.forgotten has no @Permission.*Subscription\.alsoForgotten/,
    ],
    ['resolves a type asynchronously', GuessesTypes, /Guess has an asynchronous resolveType/],
    ['requires an input that has a default', TakesDefaulted, /Defaulted\.word is required and has a default/],
  ];

  it.each(refused)('%s', (_name, resolver, reason) => {
    expect(() => buildGraph([resolver])).toThrow(reason);
  });

  it('has no resolver', () => {
    expect(() => buildGraph([])).toThrow('src/resolvers/index.ts');
  });
});
