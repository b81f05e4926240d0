import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLEnumType,
  type GraphQLOutputType,
  type GraphQLScalarType,
  type GraphQLSchema,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  TypeNameMetaFieldDef,
  typeFromAST,
} from 'graphql';

/** What an operation's data looks like: its selection set with aliases, typed by the schema. */
export type Shape =
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, FieldShape> }
  | { readonly kind: 'list'; readonly item: Shape; readonly itemNullable: boolean }
  | { readonly kind: 'leaf'; readonly type: GraphQLScalarType | GraphQLEnumType };

export interface FieldShape {
  readonly shape: Shape;
  readonly nullable: boolean;
  /** False below @skip, @include, or a fragment that not every possible type satisfies. */
  readonly always: boolean;
  readonly description: string | undefined;
}

interface Collected {
  readonly nodes: FieldNode[];
  readonly parent: GraphQLCompositeType;
  always: boolean;
}

/** The shape of the data of a validated operation. */
export function resultShape(
  schema: GraphQLSchema,
  document: DocumentNode,
  definition: OperationDefinitionNode,
): Shape {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  }
  const root = schema.getRootType(definition.operation);
  if (!root) throw new Error(`the schema has no ${definition.operation} type`);
  return new ShapeBuilder(schema, fragments).object(root, [definition.selectionSet]);
}

class ShapeBuilder {
  readonly #schema: GraphQLSchema;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;

  constructor(schema: GraphQLSchema, fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
    this.#schema = schema;
    this.#fragments = fragments;
  }

  object(type: GraphQLCompositeType, sets: readonly SelectionSetNode[]): Shape {
    const collected = new Map<string, Collected>();
    for (const set of sets) this.#collect(type, type, set, true, collected);
    const fields = new Map<string, FieldShape>();
    for (const [key, { nodes, parent, always }] of collected) {
      const definition = fieldOf(parent, nodes[0]?.name.value ?? '');
      if (!definition) continue;
      fields.set(key, {
        shape: this.#output(definition.type, nodes),
        nullable: !isNonNullType(definition.type),
        always,
        description: definition.description ?? undefined,
      });
    }
    return { kind: 'object', fields };
  }

  #output(type: GraphQLOutputType, nodes: readonly FieldNode[]): Shape {
    const inner = getNullableType(type);
    if (isListType(inner)) {
      return {
        kind: 'list',
        item: this.#output(inner.ofType, nodes),
        itemNullable: !isNonNullType(inner.ofType),
      };
    }
    if (!isCompositeType(inner)) return { kind: 'leaf', type: inner as GraphQLScalarType | GraphQLEnumType };
    return this.object(
      inner,
      nodes.flatMap((node) => node.selectionSet ?? []),
    );
  }

  #collect(
    whole: GraphQLCompositeType,
    parent: GraphQLCompositeType,
    set: SelectionSetNode,
    always: boolean,
    into: Map<string, Collected>,
  ): void {
    for (const selection of set.selections) {
      const sure = always && !selection.directives?.some(({ name }) => /^(?:skip|include)$/.test(name.value));
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value;
        const known = into.get(key) ?? { nodes: [], parent, always: false };
        known.nodes.push(selection);
        known.always ||= sure;
        into.set(key, known);
        continue;
      }
      const fragment =
        selection.kind === Kind.FRAGMENT_SPREAD ? this.#fragments.get(selection.name.value) : selection;
      if (!fragment) continue;
      const condition = fragment.typeCondition ? typeFromAST(this.#schema, fragment.typeCondition) : parent;
      if (!isCompositeType(condition)) continue;
      this.#collect(whole, condition, fragment.selectionSet, sure && this.#covers(condition, whole), into);
    }
  }

  /** True when every object the field may return satisfies the condition. */
  #covers(condition: GraphQLCompositeType, whole: GraphQLCompositeType): boolean {
    const possible = isAbstractType(whole) ? this.#schema.getPossibleTypes(whole) : [whole];
    return possible.every((type) =>
      isObjectType(condition) ? type === condition : this.#schema.isSubType(condition, type),
    );
  }
}

function fieldOf(parent: GraphQLCompositeType, name: string) {
  if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
  return isUnionType(parent) ? undefined : parent.getFields()[name];
}
