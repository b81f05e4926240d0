import { invalid } from '../../errors.js';
import { type PipelineDefinition, parseDefinition, type TaskGraph } from './definition/index.js';

/** @throws VALIDATION_ERROR that lists every fault of the definition with its line and column */
export function compileDefinition(yaml: string): { definition: PipelineDefinition; graph: TaskGraph } {
  const parsed = parseDefinition(yaml);
  if (parsed.ok) return parsed;
  throw invalid(
    parsed.errors.map(({ line, column, path, message }) => ({
      field: path === '' ? 'yamlDefinition' : `yamlDefinition.${path}`,
      constraint: 'isPipelineDefinition',
      message: `line ${line}, column ${column}: ${message}`,
    })),
  );
}
