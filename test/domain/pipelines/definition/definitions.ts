import { type DefinitionError, parseDefinition } from '../../../../src/domain/pipelines/definition/index.js';

export function compiled(yaml: string, connections?: ReadonlyMap<string, string>) {
  const parsed = parseDefinition(yaml, connections && { connections });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors, null, 1));
  return parsed;
}

/** `line:column path: message` of every error. */
export function refused(yaml: string): string[] {
  const parsed = parseDefinition(yaml);
  if (parsed.ok) throw new Error('The definition was accepted.');
  return parsed.errors.map(
    ({ line, column, path, message }: DefinitionError) => `${line}:${column} ${path}: ${message}`,
  );
}

export const HEAD = 'apiVersion: v1\nname: n\n';
export const SMALL = `${HEAD}source: { id: a, type: file, path: a.csv }\ntarget: { id: z, type: file, path: z.csv }\n`;
