import { LRUCache } from 'lru-cache';
import { type FieldProblem, invalid } from '../../errors.js';
import {
  checkGiven,
  type DefinitionError,
  type ParameterValues,
  type PipelineDefinition,
  parseDefinition,
  type TaskGraph,
} from './definition/index.js';

export interface CompiledDefinition {
  definition: PipelineDefinition;
  graph: TaskGraph;
}

/**
 * A run's definition is compiled when it is asked for, when it is carried out and when its lineage is told: 3 to 10 ms
 * each, in which the process answers nobody. Bounded in characters, the definition's and those of its values.
 */
const compiled = new LRUCache<string, CompiledDefinition>({
  maxSize: 8_000_000,
  sizeCalculation: (_, key) => key.length,
});

/**
 * Without `values`, placeholders of every known kind stay as they are written: the graph then tells tasks, order and
 * engine, and must not be executed. With `values` nothing is left to fill in.
 * @throws VALIDATION_ERROR that lists every fault of the definition with its line and column, and every parameter that
 *   is unknown, missing or of the wrong type as the field `parameters.<id>`
 */
export function compileDefinition(yaml: string, values?: ParameterValues): CompiledDefinition {
  const key = keyOf(yaml, values);
  const known = compiled.get(key);
  if (known) return known;
  const parsed = parseDefinition(yaml, values && { values });
  if (!parsed.ok) throw invalid([...parsed.problems, ...definitionProblems(parsed.errors)]);
  const { definition, graph } = parsed;
  compiled.set(key, { definition, graph });
  return { definition, graph };
}

/** The values of a run make no difference to a definition that nothing is to be filled into. */
function keyOf(yaml: string, values: ParameterValues | undefined): string {
  if (!values) return `unbound ${yaml}`;
  const isFixed = !yaml.includes('{{') && Object.keys(values.params).length === 0;
  return `bound ${isFixed ? '' : JSON.stringify(values)} ${yaml}`;
}

/** One entry for each fault, as the platform's 400 lists them. */
export function definitionProblems(errors: readonly DefinitionError[]): FieldProblem[] {
  return errors.map(({ line, column, path, message }) => ({
    field: path === '' ? 'yamlDefinition' : `yamlDefinition.${path}`,
    constraint: 'isPipelineDefinition',
    message: `line ${line}, column ${column}: ${message}`,
  }));
}

/**
 * What a run request gives, in the spelling a run's row keeps; defaults are not in it, they are put in by
 * `compileDefinition`.
 * @throws VALIDATION_ERROR naming `parameters.<id>` for each that is unknown, missing or of the wrong type
 */
export function checkParameters(
  { parameters }: Pick<PipelineDefinition, 'parameters'>,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { values, problems } = checkGiven(parameters, given);
  if (problems.length > 0) throw invalid(problems);
  return values;
}
