import { invalidField } from '../errors.js';

/** @throws VALIDATION_ERROR for a limit below 1 or above the maximum */
export function boundedLimit(limit: number, maximum: number): number {
  if (limit < 1) throw invalidField('limit', 'min', 'limit must not be less than 1');
  if (limit > maximum) throw invalidField('limit', 'max', `limit must not be greater than ${maximum}`);
  return limit;
}
