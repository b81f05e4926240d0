import {
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { requirementOf } from '../../src/resolvers/permission.js';
import { argumentSlots, fill, kindShown, referencesIn } from './arguments.js';
import type { Actor } from './houses.js';
import type { Answer, Operation } from './operation.js';

type RootField = GraphQLField<unknown, unknown>;

/** A root field, and the document that asks for everything it can answer. */
export interface RootOperation extends Operation {
  readonly document: string;
  variables(actor: Actor, chosen?: Parameters<Operation['send']>[1]): Promise<Record<string, unknown>>;
}

export function queriesAndMutations(schema: GraphQLSchema): RootOperation[] {
  return [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}).map((field) => rootOperation(type?.name ?? '', field)),
  );
}

export function subscriptions(schema: GraphQLSchema): RootOperation[] {
  return Object.values(schema.getSubscriptionType()?.getFields() ?? {}).map((field) =>
    rootOperation('Subscription', field),
  );
}

function rootOperation(parent: string, field: RootField): RootOperation {
  const slots = argumentSlots(parent, field);
  const references = referencesIn(slots);
  const declared = field.args.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const passed = field.args.map(({ name }) => `${name}: $${name}`).join(', ');
  const call = field.args.length === 0 ? field.name : `${field.name}(${passed})`;
  const head = field.args.length === 0 ? '' : `(${declared})`;
  const document = `${parent.toLowerCase()} Matrix${head} { ${call} ${everythingOf(field.type)} }`;
  const door = doorOf(field);
  return {
    name: `${parent}.${field.name}`,
    reads: parent === 'Query',
    door,
    references,
    shows: kindShown(field),
    document,
    names: ({ path, required }) => path.length === 1 && required,
    variables: (actor, chosen) => fill(slots, actor, chosen),
    async send(actor, chosen) {
      const variables = await fill(slots, actor, chosen);
      return ask(actor, door, document, variables);
    },
  };
}

export function doorOf(field: RootField): Operation['door'] {
  const requirement = requirementOf(field);
  if (requirement && 'itsm' in requirement) return 'itsm';
  return requirement && 'platform' in requirement ? 'platform' : 'public';
}

async function ask(
  actor: Actor,
  door: Operation['door'],
  query: string,
  variables: Record<string, unknown>,
): Promise<Answer> {
  const send = door === 'platform' ? actor.asPlatform : actor.asItsm;
  const { body } = await send('POST', '/graphql', { query, variables });
  const [error] = body.errors ?? [];
  return { refusal: error && (error.extensions?.code ?? 'no code'), body };
}

/** Every field that needs no argument, relations included, each type once on the way down. */
function everythingOf(type: GraphQLOutputType, above: readonly string[] = []): string {
  const named = getNamedType(type);
  if (isUnionType(named)) {
    const parts = named.getTypes().map((part) => `... on ${part.name} ${everythingOf(part, above)}`);
    return `{ __typename ${parts.join(' ')} }`;
  }
  if (isInterfaceType(named))
    throw new Error(`${named.name} is an interface, which the matrix does not select yet`);
  if (!isObjectType(named)) return '';
  const fields = Object.values(named.getFields()).flatMap((field) => {
    const { name } = getNamedType(field.type);
    if (above.includes(name)) return [];
    if (field.args.some((argument) => isNonNullType(argument.type) && argument.defaultValue === undefined))
      throw new Error(
        `${named.name}.${field.name} has an argument of its own, which the matrix does not build yet`,
      );
    return [`${field.name} ${everythingOf(field.type, [...above, named.name])}`];
  });
  return `{ ${fields.join(' ')} }`;
}
