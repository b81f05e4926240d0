import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  Kind,
  specifiedScalarTypes,
  type TypeNode,
  visit,
} from 'graphql';

const builtInScalars = new Set(specifiedScalarTypes.map((type) => type.name));

/**
 * Whether graphql-jit 0.8 answers a document as graphql-js does. Where it does not, the document runs on graphql-js,
 * which is slower and right (test/graph/executor.test.ts compares the two).
 */
export function jitAnswersAlike(document: DocumentNode): boolean {
  let alike = true;
  visit(document, {
    enter(node) {
      if (!isAnsweredDifferently(node)) return undefined;
      alike = false;
      return BREAK;
    },
  });
  return alike;
}

function isAnsweredDifferently(node: ASTNode): boolean {
  switch (node.kind) {
    // An absent variable inside an object literal becomes null, so that a PATCH would clear a field.
    case Kind.OBJECT_FIELD:
      return node.value.kind === Kind.VARIABLE;
    // A default is not parsed by its custom scalar, and not used at all when the type is required.
    case Kind.VARIABLE_DEFINITION:
      return node.defaultValue !== undefined && !isOptionalBuiltIn(node.type);
    // A fragment that is skipped in one place is missing in the others.
    case Kind.FRAGMENT_SPREAD:
    case Kind.INLINE_FRAGMENT:
      return node.directives !== undefined && node.directives.length > 0;
    default:
      return false;
  }
}

function isOptionalBuiltIn(type: TypeNode): boolean {
  return type.kind === Kind.NAMED_TYPE && builtInScalars.has(type.name.value);
}
