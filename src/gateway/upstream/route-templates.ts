import { isBelow } from '../surface.js';
import type { Upstream } from './parse-upstreams.js';

/** The template a proxied request is counted, measured and logged under. */
export type TemplateOf = (upstream: Upstream, path: string) => string;

/**
 * The templates this process would serve itself keep their limits. What else an upstream has is one template per
 * prefix: a template made from the path would let a client have as many limits as it can think of paths.
 */
export function createTemplateOf(templates: readonly string[]): TemplateOf {
  const known = templates.map((template) => ({ template, pattern: patternOf(template) }));
  return ({ prefix }, path) => {
    const served = known.find(({ template, pattern }) => isBelow(template, prefix) && pattern.test(path));
    return served?.template ?? `${prefix}/**`;
  };
}

function patternOf(template: string): RegExp {
  const segments = template
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')));
  return new RegExp(`^${segments.join('/')}$`);
}
