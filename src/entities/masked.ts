import { Extensions } from 'type-graphql';

/**
 * Who sees personal data in a text field of a platform type (docs/decisions/masking.md).
 * - `always`: nobody. Rows, samples, log lines, errors, answers of a model.
 * - `config`: who may write the resource, since GET and PUT would otherwise destroy it.
 * - `never`: everybody, since it holds an id or one of our own words.
 */
export type Mask = 'always' | 'config' | 'never';

const EXTENSION = 'mask';

/** On each String, JSON and JSONObject field of a platform type; one without it is masked as `always`. */
export function Masked(mask: Mask): PropertyDecorator & MethodDecorator {
  return Extensions({ [EXTENSION]: mask }) as PropertyDecorator & MethodDecorator;
}

/** What `@Masked` wrote on a field. */
export function maskOf(field: { readonly extensions: Readonly<Record<string, unknown>> }): Mask | undefined {
  return field.extensions[EXTENSION] as Mask | undefined;
}
