import { LRUCache } from 'lru-cache';
import type { Services } from '../../context.js';
import { invalid } from '../../errors.js';
import { definitionProblems } from './compile-definition.js';
import { type DefinitionError, inOrder, type ParsedDefinition, parseDefinition } from './definition/index.js';

type Judging = Pick<Services, 'engines'>;

/** Everything that is wrong with a definition, in the order of its text: with its structure, and what the engine's parsers say. */
export async function faultsOf(services: Judging, parsed: ParsedDefinition): Promise<DefinitionError[]> {
  return inOrder([...(parsed.ok ? [] : parsed.errors), ...(await textErrors(services, parsed))]);
}

/** A text that the parsers have no answer to is let through: it is read again when it is run. */
async function textErrors({ engines }: Judging, { texts }: ParsedDefinition): Promise<DefinitionError[]> {
  const faults = await engines.get('BATCH')?.judge?.(texts.map(({ author }) => author));
  return texts.flatMap(({ error }, index) => {
    const fault = faults?.[index];
    return fault === undefined ? [] : [error(fault)];
  });
}

/** Definitions in which nothing was found. Bounded in characters. */
const faultless = new LRUCache<string, true>({
  maxSize: 8_000_000,
  sizeCalculation: (_, yaml) => yaml.length,
});

/** Whether this process knows the definition to be without fault. */
export function isFaultless(yaml: string): boolean {
  return faultless.get(yaml) === true;
}

/**
 * Takes some milliseconds, and seconds where a parser is stuck: not to be awaited in a transaction.
 * @throws VALIDATION_ERROR that lists every fault with its line and column
 */
export async function requireFaultless(services: Judging, yaml: string): Promise<void> {
  const faults = await faultsOf(services, parseDefinition(yaml));
  if (faults.length > 0) throw invalid(definitionProblems(faults));
  faultless.set(yaml, true);
}
