/** Nulls come last in both directions: each direction has an expression, and an index, of its own. */
interface SortExpression {
  asc: string;
  desc: string;
}

function column(name: string): SortExpression {
  return { asc: `t.${name}`, desc: `t.${name}` };
}

/** Expressions over the table alias `t`; each stands in an index behind organization_id and before id. */
const expressions = {
  createdAt: column('created_at'),
  updatedAt: column('updated_at'),
  priority: column('priority_rank'),
  status: column('status'),
  title: column('title'),
  number: column('number'),
  dueAt: {
    asc: "coalesce(t.resolution_due_at, 'infinity')",
    desc: "coalesce(t.resolution_due_at, '-infinity')",
  },
} as const satisfies Record<string, SortExpression>;

export type TicketSortField = keyof typeof expressions;
export const ticketSortFields = Object.keys(expressions) as TicketSortField[];

export const sortOrders = ['asc', 'desc'] as const;
export type SortOrder = (typeof sortOrders)[number];

export interface TicketSort {
  expression: string;
  order: SortOrder;
}

export function ticketSort(
  by: TicketSortField | null | undefined,
  order: SortOrder | null | undefined,
): TicketSort {
  const direction = order ?? 'desc';
  return { expression: expressions[by ?? 'createdAt'][direction], order: direction };
}
