import type { z } from 'zod';
import { type FieldProblem, invalid } from '../errors.js';

type Issue = z.core.$ZodIssue;

/** The constraint names REST clients of the ITSM document know (class-validator's). */
function constraintOf(issue: Issue): string {
  if (issue.input === null) return 'isNotNull';
  switch (issue.code) {
    case 'too_small':
      if (issue.origin === 'string') return issue.minimum === 1 ? 'isNotEmpty' : 'minLength';
      return issue.origin === 'array' ? 'arrayMinSize' : 'min';
    case 'too_big':
      if (issue.origin === 'string') return 'maxLength';
      return issue.origin === 'array' ? 'arrayMaxSize' : 'max';
    case 'unrecognized_keys':
      return 'whitelistValidation';
    case 'invalid_value':
      return 'isIn';
    case 'invalid_format':
      return issue.format === 'email'
        ? 'isEmail'
        : `is${issue.format[0]?.toUpperCase()}${issue.format.slice(1)}`;
    case 'invalid_type':
      return issue.input === undefined
        ? 'isDefined'
        : `is${issue.expected[0]?.toUpperCase()}${issue.expected.slice(1)}`;
    case 'custom':
      return typeof issue.params?.['constraint'] === 'string' ? issue.params['constraint'] : 'isValid';
    default:
      return 'isValid';
  }
}

function problemsOf(issue: Issue): FieldProblem[] {
  const path = issue.path.map(String);
  const constraint = constraintOf(issue);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const field = [...path, key].join('.');
      return { field, constraint, message: `${field} is not a known field` };
    });
  }
  const field = path.join('.');
  return [{ field, constraint, message: `${field}: ${issue.message}` }];
}

/** @throws VALIDATION_ERROR that lists every problem with its field and constraint. */
export function validate<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const parsed = schema.safeParse(input, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw invalid(parsed.error.issues.flatMap(problemsOf));
}
