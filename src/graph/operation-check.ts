import { type DocumentNode, type GraphQLSchema, getOperationAST, Kind } from 'graphql';
import type { RequestContext } from '../context.js';
import { type Requirement, requirementOf } from '../resolvers/permission.js';
import { checkOf } from './authorize.js';

/** What the root fields of a prebuilt operation ask of a caller. */
export function requirementsOf(schema: GraphQLSchema, document: DocumentNode): Requirement[] {
  const operation = getOperationAST(document);
  const type = operation && schema.getRootType(operation.operation);
  return (operation?.selectionSet.selections ?? []).flatMap((selection) => {
    const field = selection.kind === Kind.FIELD ? type?.getFields()[selection.name.value] : undefined;
    return (field && requirementOf(field)) ?? [];
  });
}

/**
 * What a caller must hold for every root field of a prebuilt operation, to be asked before its input is looked at:
 * somebody who may not do it at all is told so, and not what is wrong with the body.
 */
export function operationCheck(
  schema: GraphQLSchema,
  document: DocumentNode,
): (context: RequestContext) => void {
  const checks = requirementsOf(schema, document).flatMap((requirement) => checkOf(requirement) ?? []);
  return (context) => {
    for (const check of checks) check(context);
  };
}
