import { isAllowed } from './check-parameters.js';
import { expectedOf, PARAMETER_TYPES, readTyped } from './parameter-types.js';
import type { DefinitionError, ParameterDeclaration, ParameterType } from './pipeline-definition.js';
import { placeholdersIn } from './placeholders.js';
import type { Path, YamlText } from './yaml-text.js';

export interface DeclaredParameter extends ParameterDeclaration {
  path: Path;
}

type Value = Readonly<Record<string, unknown>>;

/** What of `parameters` is shaped like a declaration; the rest is left to the schema. */
export function readParameters({ value }: YamlText): DeclaredParameter[] {
  const list: unknown = (value as Value | null | undefined)?.['parameters'];
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown, index) => {
    const { id, type, required, description, default: preset, allowedValues } = (entry ?? {}) as Value;
    if (typeof id !== 'string' || !PARAMETER_TYPES.includes(type as ParameterType)) return [];
    return [
      {
        path: ['parameters', index],
        id,
        type: type as ParameterType,
        required: typeof required === 'boolean' ? required : preset === undefined,
        ...(typeof description === 'string' && { description }),
        ...(isScalar(preset) && { default: preset }),
        ...(Array.isArray(allowedValues) && { allowedValues: allowedValues.filter(isScalar) }),
      },
    ];
  });
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** Names given twice, and values that are none of their own type. */
export function parameterErrors(parameters: readonly DeclaredParameter[], text: YamlText): DefinitionError[] {
  const seen = new Set<string>();
  return parameters.flatMap((parameter) => {
    const { id, path, type, allowedValues, default: preset } = parameter;
    const errors = (allowedValues ?? []).flatMap((value, index) =>
      readTyped(type, value)
        ? []
        : [
            text.error(`An allowed value of "${id}" must be ${expectedOf(type)}.`, [
              ...path,
              'allowedValues',
              index,
            ]),
          ],
    );
    if (seen.has(id)) errors.push(text.error(`The parameter "${id}" is declared twice.`, [...path, 'id']));
    seen.add(id);
    if (preset === undefined || placeholdersIn(String(preset)).length > 0) return errors;
    return [...errors, ...defaultErrors(parameter, preset, text)];
  });
}

/** @param preset the default, with nothing left to fill in */
export function defaultErrors(
  parameter: DeclaredParameter,
  preset: string | number | boolean,
  text: YamlText,
): DefinitionError[] {
  const { id, type, path, allowedValues } = parameter;
  const typed = readTyped(type, preset);
  const at = [...path, 'default'];
  if (!typed) return [text.error(`The default of "${id}" must be ${expectedOf(type)}.`, at)];
  if (isAllowed(parameter, typed.text)) return [];
  return [text.error(`The default of "${id}" must be one of ${allowedValues?.join(', ')}.`, at)];
}
