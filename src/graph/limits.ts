import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives';
import {
  GraphQLError,
  NoSchemaIntrospectionCustomRule,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';

/**
 * What a document may ask for, over HTTP and WebSocket alike. Operations behind REST rows are our own and are not
 * limited. Each number leaves room above the largest operation of the explorer and of the documentation.
 */
export const graphLimits = {
  /** The full introspection query has about 250 tokens, a page of the console about 600. */
  tokens: 2_000,
  /** page -> rows -> relation -> its relation -> field is 5; `__schema` has its own limit in graphql-js. */
  depth: 10,
  /** One alias per field of a REST shape is about 20. */
  aliases: 30,
  /** @skip and @include on the parts of a page. */
  directives: 20,
  /** Objects an answer may hold: a full page of 1,000 tickets with three relations each is 4,001. */
  cost: 5_000,
  /** Fields after expanding fragments; graphql-jit compiles about 100 of them per millisecond. */
  nodes: 2_000,
  /** A document that is wrong everywhere is told so this often. */
  validationErrors: 20,
} as const;

export const parseOptions = { maxTokens: graphLimits.tokens } as const;
export const validationOptions = { maxErrors: graphLimits.validationErrors } as const;

/** Rules beside graphql-js' own; one list for both transports. */
export function limitRules(options: { introspection: boolean }): ValidationRule[] {
  const rules: ValidationRule[] = [
    maxDepthRule({ n: graphLimits.depth, flattenFragments: true, ...reported }),
    maxAliasesRule({ n: graphLimits.aliases, ...reported }),
    maxDirectivesRule({ n: graphLimits.directives, ...reported }),
  ];
  return options.introspection ? rules : [...rules, NoSchemaIntrospectionCustomRule];
}

/** graphql-armor throws out of validate() unless told to report, and calls every refusal a syntax error. */
const reported = {
  propagateOnRejection: false,
  onReject: [
    (context: ValidationContext | null, error: GraphQLError) => {
      context?.reportError(new GraphQLError(error.message.replace(/^Syntax Error: /, '')));
    },
  ],
};
