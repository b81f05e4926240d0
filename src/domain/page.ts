import { invalidField } from '../errors.js';

export const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 1000;

export const sortOrders = ['asc', 'desc'] as const;
export type SortOrder = (typeof sortOrders)[number];

/** The two modes of the ITSM document, Pagination, as they came. */
export interface PageRequest {
  page?: number | null | undefined;
  limit?: number | null | undefined;
  /** Id of the last item already seen. */
  startingAfter?: string | null | undefined;
  /** Id of the first item already seen. */
  endingBefore?: string | null | undefined;
}

export type PageMode =
  | { kind: 'offset'; page: number; limit: number; offset: number }
  | { kind: 'cursor'; field: 'starting_after' | 'ending_before'; cursor: string; limit: number };

export interface Page<T> {
  data: T[];
  meta: {
    pagination: {
      /** Null in cursor mode. */
      page: number | null;
      limit: number;
      total: number;
      totalPages: number;
      hasMore: boolean;
    };
  };
  /** In cursor mode only, as is `cursor`: whether more lies in the direction of travel. */
  hasMore: boolean | null;
  /** The id to pass on; null when nothing was found. */
  cursor: string | null;
}

/** Problems name the parameters as the REST document does. @throws VALIDATION_ERROR */
export function pageMode(request: PageRequest): PageMode {
  const { page, startingAfter, endingBefore } = request;
  const limit = request.limit ?? DEFAULT_LIMIT;
  if (limit < 1) throw invalidField('limit', 'min', 'limit must not be less than 1');
  if (limit > MAX_LIMIT) throw invalidField('limit', 'max', `limit must not be greater than ${MAX_LIMIT}`);
  if (startingAfter != null && endingBefore != null)
    throw exclusive('ending_before', 'starting_after and ending_before must not be used together');
  const field = startingAfter != null ? 'starting_after' : 'ending_before';
  const cursor = startingAfter ?? endingBefore;
  if (cursor == null) return offsetMode(page ?? 1, limit);
  if (page != null) throw exclusive('page', `page must not be combined with ${field}`);
  return { kind: 'cursor', field, cursor, limit };
}

function offsetMode(page: number, limit: number): PageMode {
  if (page < 1) throw invalidField('page', 'min', 'page must not be less than 1');
  return { kind: 'offset', page, limit, offset: (page - 1) * limit };
}

function exclusive(field: string, message: string) {
  return invalidField(field, 'mutuallyExclusive', message);
}

/** A cursor that is the id of nothing the caller may see. */
export function unknownCursor(field: string) {
  return invalidField(field, 'exists', `${field} is not the id of an item of this list`);
}

export function offsetPage<T>(
  mode: Extract<PageMode, { kind: 'offset' }>,
  data: T[],
  total: number,
): Page<T> {
  const { page, limit } = mode;
  const totalPages = Math.ceil(total / limit);
  const hasMore = page < totalPages;
  return {
    data,
    meta: { pagination: { page, limit, total, totalPages, hasMore } },
    hasMore: null,
    cursor: null,
  };
}

/** @param found in the direction of travel, one more than `limit` when there is more. */
export function cursorPage<T extends { id: string }>(
  mode: Extract<PageMode, { kind: 'cursor' }>,
  found: T[],
  total: number,
): Page<T> {
  const { limit, field } = mode;
  const hasMore = found.length > limit;
  const data = found.slice(0, limit);
  const cursor = data.at(-1)?.id ?? null;
  // Found backwards, shown in the order of the list.
  if (field === 'ending_before') data.reverse();
  const pagination = { page: null, limit, total, totalPages: Math.ceil(total / limit), hasMore };
  return { data, meta: { pagination }, hasMore, cursor };
}
