import { param } from 'rest-graphql-bridge';

/** ITSM document, Pagination: what every list takes beside its filters and its sortBy. */
export const pageQuery = {
  page: param.int({ min: 1, description: 'Not together with a cursor.' }),
  limit: param.int({ min: 1, max: 1000, default: 25 }),
  sortOrder: param.oneOf(['asc', 'desc'], { default: 'desc' }),
  starting_after: param.string({ description: 'Id of the last item already seen.' }),
  ending_before: param.string({ description: 'Id of the first item already seen.' }),
};

interface PageQuery {
  page?: number | undefined;
  limit?: number | undefined;
  sortOrder?: 'asc' | 'desc' | undefined;
  starting_after?: string | undefined;
  ending_before?: string | undefined;
}

/** The variables of the operation. */
export function pageOf({ page, limit, sortOrder, starting_after, ending_before }: PageQuery) {
  return { page, limit, sortOrder, startingAfter: starting_after, endingBefore: ending_before };
}

/** For a list that is sorted by the time of making alone. */
export const byCreation = { sortBy: param.oneOf(['createdAt'], { default: 'createdAt' }) };
