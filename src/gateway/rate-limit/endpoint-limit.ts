import { bucketOf, type Limit, windowOf } from './limit.js';
import { endpointRules, type LimitValues } from './limit-table.js';

/** How the requests to one endpoint are counted. */
export interface EndpointLimit {
  readonly limit: Limit;
  /** The address is put behind it. */
  readonly keyPrefix: string;
  readonly count: 'shared' | 'node';
}

/** The table, read for a method and a route template; each pair is looked up once. */
export function createEndpointLimits(
  values: LimitValues,
): (method: string, template: string) => EndpointLimit {
  const known = new Map<string, EndpointLimit>();
  return (sent, template) => {
    // HEAD is answered by the row of GET.
    const method = sent === 'HEAD' ? 'GET' : sent;
    const endpoint = `${method} ${template}`;
    const found = known.get(endpoint) ?? ruleFor(method, template, values);
    known.set(endpoint, found);
    return found;
  };
}

function ruleFor(method: string, template: string, values: LimitValues): EndpointLimit {
  const rule = endpointRules.find(
    ({ methods, path }) => path.test(template) && (methods?.includes(method) ?? true),
  );
  if (!rule) throw new Error('The last rule of the table must fit everything');
  const perMinute = values[rule.limit];
  return {
    limit: rule.burst === undefined ? windowOf(perMinute) : bucketOf(perMinute, values[rule.burst]),
    keyPrefix: rule.per === 'rule' ? `${rule.limit}|` : `${method} ${template}|`,
    count: rule.count,
  };
}
