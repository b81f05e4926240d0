import { createHash } from 'node:crypto';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { limitRules, parseOptions, validationOptions } from './limits.js';

export interface PreparedDocument {
  document: DocumentNode;
  documentKey: string;
}

/** As many as the executor keeps compiled. */
const PREPARED_DOCUMENTS = 500;

/**
 * What Apollo does with a query's text before it runs, for the transport that bypasses Apollo. Errors carry the same
 * codes as Apollo's.
 */
export function createPreparation(schema: GraphQLSchema, options: { introspection: boolean }) {
  const prepared = new LRUCache<string, PreparedDocument>({ max: PREPARED_DOCUMENTS });
  const rules = [...specifiedRules, ...limitRules(options)];

  return (query: string): PreparedDocument | readonly GraphQLError[] => {
    const documentKey = createHash('sha256').update(query).digest('hex');
    const known = prepared.get(documentKey);
    if (known) return known;
    const document = parsed(query);
    if (document instanceof GraphQLError) return [document];
    const errors = validate(schema, document, rules, {
      ...validationOptions,
      // A suggested name would tell what introspection must not.
      hideSuggestions: !options.introspection,
    });
    if (errors.length > 0) return errors.map((error) => coded(error, 'GRAPHQL_VALIDATION_FAILED'));
    const fresh = { document, documentKey };
    prepared.set(documentKey, fresh);
    return fresh;
  };
}

function parsed(query: string): DocumentNode | GraphQLError {
  try {
    return parse(query, parseOptions);
  } catch (error) {
    if (error instanceof GraphQLError) return coded(error, 'GRAPHQL_PARSE_FAILED');
    throw error;
  }
}

function coded({ message, nodes, source, positions }: GraphQLError, code: string): GraphQLError {
  return new GraphQLError(message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    extensions: { code },
  });
}
