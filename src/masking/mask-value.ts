import { isPlain } from './is-plain.js';
import { maskText } from './mask-text.js';

/**
 * A value as JSON knows them with every string masked, at any depth. Numbers, dates and names of properties stay; what
 * holds nothing is returned as it is, not copied.
 */
export function maskValue(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(maskValue);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  return isPlain(value) ? maskRecord(value) : value;
}

export function maskRecord(record: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(record);
  const masked = entries.map(([name, value]) => [name, maskValue(value)] as const);
  return masked.some(([, value], index) => value !== entries[index]?.[1])
    ? Object.fromEntries(masked)
    : record;
}
