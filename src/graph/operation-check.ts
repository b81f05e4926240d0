import { type DocumentNode, type GraphQLSchema, getOperationAST, Kind } from 'graphql';
import type { RequestContext } from '../context.js';
import { requirementOf } from '../resolvers/permission.js';
import { checkOf } from './authorize.js';

/**
 * What a caller must hold for every root field of a prebuilt operation, to be asked before its input is looked at:
 * somebody who may not do it at all is told so, and not what is wrong with the body.
 */
export function operationCheck(
  schema: GraphQLSchema,
  document: DocumentNode,
): (context: RequestContext) => void {
  const operation = getOperationAST(document);
  const type = operation && schema.getRootType(operation.operation);
  const checks = (operation?.selectionSet.selections ?? []).flatMap((selection) => {
    const field = selection.kind === Kind.FIELD ? type?.getFields()[selection.name.value] : undefined;
    const requirement = field && requirementOf(field);
    return (requirement && checkOf(requirement)) ?? [];
  });
  return (context) => {
    for (const check of checks) check(context);
  };
}
