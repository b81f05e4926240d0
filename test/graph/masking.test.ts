/**
 * The types it declares would stay in the graph of later files.
 * @jest-environment node
 */
import { describe, expect, it } from '@jest/globals';
import { type GraphQLSchema, graphql } from 'graphql';
import { GraphQLEmailAddress, GraphQLJSON } from 'graphql-scalars';
import { Arg, type ClassType, Field, InputType, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import type { PlatformRole } from '../../src/context.js';
import { Masked, maskOf } from '../../src/entities/masked.js';
import { AppError } from '../../src/errors.js';
import { buildGraph } from '../../src/graph/build-schema.js';
import { platformTextFields } from '../../src/graph/masking.js';
import { resolvers } from '../../src/resolvers/index.js';
import { Permission } from '../../src/resolvers/permission.js';

describe('the graph of this application', () => {
  it('says of each text field of the platform who sees personal data in it', () => {
    const fields = platformTextFields(buildGraph(resolvers));
    expect(fields.length).toBeGreaterThan(20);
    expect(fields.filter(({ field }) => maskOf(field) === undefined).map(({ name }) => name)).toEqual([]);
  });
});

const mail = 'jan@example.com';

@ObjectType()
class Note {
  @Field(() => String)
  @Masked('config')
  text: string = mail;

  @Field(() => String)
  @Masked('always')
  line: string = mail;

  @Field(() => String)
  @Masked('never')
  author: string = mail;

  @Field(() => String)
  unmarked: string = mail;

  @Field(() => GraphQLJSON)
  @Masked('always')
  rows: unknown = [{ mail, n: 44051401359 }];

  @Field(() => [String])
  @Masked('always')
  list(): string[] {
    return [mail, 'plain'];
  }

  @Field(() => String, { nullable: true })
  @Masked('never')
  async broken(): Promise<string> {
    throw new AppError('CONFLICT', `${mail} exists`, { details: { mail } });
  }
}

@ObjectType()
class Letter {
  @Field(() => String)
  text: string = mail;
}

@InputType()
class NoteInput {
  @Field(() => String)
  text!: string;

  @Field(() => [String], { nullable: true })
  tags?: string[];

  @Field(() => GraphQLJSON, { nullable: true })
  config?: unknown;
}

@Resolver(() => Note)
class NoteResolver {
  @Query(() => Note)
  @Permission({ platform: 'read' })
  note(): Note {
    return new Note();
  }

  @Query(() => Letter)
  @Permission({ public: true })
  letter(): Letter {
    return new Letter();
  }

  @Query(() => String, { nullable: true })
  @Permission({ platform: 'read' })
  @Masked('always')
  failing(): string {
    throw new AppError('NOT_FOUND', `${mail} not found`);
  }

  @Mutation(() => Boolean)
  @Permission({ platform: 'write' })
  saveNote(@Arg('input', () => NoteInput) _input: NoteInput): boolean {
    return true;
  }
}

const as = (role: PlatformRole) => ({ caller: { platform: { roles: [role] } } });
const ask = (schema: GraphQLSchema, source: string, role: PlatformRole) =>
  graphql({ schema, source, contextValue: as(role) });

describe('platform fields', () => {
  const schema = buildGraph([NoteResolver]);
  const everything = '{ note { text line author unmarked rows list } letter { text } }';

  it.each([
    ['VIEWER', '•••'],
    ['ANALYST', '•••'],
    ['STEWARD', '•••'],
    ['ENGINEER', mail],
    ['ADMIN', mail],
  ] as const)('%s sees configuration as %s, and data masked', async (role, text) => {
    const { data, errors } = await ask(schema, everything, role);
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      note: {
        text,
        line: '•••',
        author: mail,
        unmarked: '•••',
        rows: [{ mail: '•••', n: 44051401359 }],
        list: ['•••', 'plain'],
      },
      letter: { text: mail },
    });
  });

  it('mask what their errors quote', async () => {
    const { errors } = await ask(schema, '{ failing note { broken } }', 'ADMIN');
    expect(errors?.map(({ message }) => message).toSorted()).toEqual(['••• exists', '••• not found']);
    const exists = errors?.find(({ message }) => message.endsWith('exists'));
    expect(exists?.extensions['details']).toEqual({ mail: '•••' });
  });

  it.each([
    ['{ text: "a •••" }', 'text'],
    ['{ text: "a", tags: ["b", "•••"] }', 'tags.1'],
    ['{ text: "a", config: { to: [{ name: "•••" }] } }', 'config.to.0.name'],
  ])('refuse to be written with %s', async (input, field) => {
    const { errors } = await ask(schema, `mutation { saveNote(input: ${input}) }`, 'ENGINEER');
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field, constraint: 'isUnmasked' },
    });
  });

  it('say that the caller may not before they look at the input', async () => {
    const { errors } = await ask(schema, 'mutation { saveNote(input: { text: "•••" }) }', 'VIEWER');
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'AUTHORIZATION_ERROR' });
  });
});

describe('a graph that must not start', () => {
  const start = (resolver: ClassType) => () => buildGraph([resolver]);

  it('because a text scalar could not carry the mask', () => {
    @ObjectType()
    class Person {
      @Field(() => GraphQLEmailAddress)
      email!: string;
    }
    @Resolver()
    class PersonResolver {
      @Query(() => Person)
      @Permission({ platform: 'read' })
      person(): Person {
        return new Person();
      }
    }
    expect(start(PersonResolver)).toThrow('Person.email is a EmailAddress: make it a String');
  });

  it('because both surfaces would show one text', () => {
    @Resolver()
    class SharedResolver {
      @Query(() => Letter)
      @Permission({ platform: 'read' })
      platformLetter(): Letter {
        return new Letter();
      }

      @Query(() => Letter)
      @Permission({ itsm: 'tickets:read:own' })
      itsmLetter(): Letter {
        return new Letter();
      }
    }
    expect(start(SharedResolver)).toThrow('Letter.text is text that /v1 shows as well');
  });
});
