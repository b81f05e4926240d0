import type { FieldProblem } from '../../../errors.js';
import { expectedOf, nativeValue, readTyped } from './parameter-types.js';
import type { ParameterDeclaration } from './pipeline-definition.js';

export interface CheckedParameters {
  /** The given ones in their one spelling; a default is not put in. */
  values: Record<string, string | number | boolean>;
  problems: FieldProblem[];
}

/** What a run was given against what its definition declares; each problem names the field `parameters.<id>`. */
export function checkGiven(
  declarations: readonly ParameterDeclaration[],
  given: Readonly<Record<string, unknown>>,
): CheckedParameters {
  const declared = new Map(declarations.map((declaration) => [declaration.id, declaration]));
  const values: [string, string | number | boolean][] = [];
  const problems: FieldProblem[] = [];
  const refuse = (id: string, constraint: string, message: string) =>
    problems.push({ field: `parameters.${id}`, constraint, message: `parameters.${id} ${message}` });
  const present = new Map(Object.entries(given));
  for (const [id, value] of present) {
    const declaration = declared.get(id);
    if (!declaration) {
      refuse(id, 'whitelistValidation', 'is no parameter of this pipeline');
      continue;
    }
    // As if it were not there: clients send null for what has no value.
    if (value === null) continue;
    const typed = readTyped(declaration.type, value);
    if (!typed) refuse(id, `is${declaration.type}`, `must be ${expectedOf(declaration.type)}`);
    else if (!isAllowed(declaration, typed.text)) {
      refuse(id, 'isIn', `must be one of ${declaration.allowedValues?.join(', ')}`);
    } else values.push([id, nativeValue(typed)]);
  }
  for (const { id, required } of declarations) {
    if (required && (present.get(id) ?? null) === null) refuse(id, 'isDefined', 'is required');
  }
  return { values: Object.fromEntries(values), problems };
}

/** @param text the one spelling of the value */
export function isAllowed({ type, allowedValues }: ParameterDeclaration, text: string): boolean {
  return !allowedValues || allowedValues.some((allowed) => readTyped(type, allowed)?.text === text);
}
