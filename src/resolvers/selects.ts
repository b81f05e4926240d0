import { type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';

type Selected = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

/**
 * Whether the client selects one of these fields beneath the field that is being resolved, so that a resolver may read them
 * along. What `@skip` leaves out counts as selected.
 */
export function selects({ fieldNodes, fragments }: Selected, names: ReadonlySet<string>): boolean {
  const within = (set: SelectionSetNode | undefined): boolean =>
    set?.selections.some((selection) => {
      if (selection.kind === Kind.FIELD) return names.has(selection.name.value);
      if (selection.kind === Kind.INLINE_FRAGMENT) return within(selection.selectionSet);
      return within(fragments[selection.name.value]?.selectionSet);
    }) ?? false;
  return fieldNodes.some((node) => within(node.selectionSet));
}
