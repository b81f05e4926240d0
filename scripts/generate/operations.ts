import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as typedDocumentNode from '@graphql-codegen/typed-document-node';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  parse,
  printSchema,
  Source,
  validate,
  visit,
} from 'graphql';

/** Scalars as they travel: the bridge deals in JSON values on both sides. A scalar that is missing stops the run. */
const scalars: Readonly<Record<string, string>> = {
  ID: 'string',
  DateTimeISO: 'string',
  DateTime: 'string',
  Date: 'string',
  UUID: 'string',
  URL: 'string',
  EmailAddress: 'string',
  JSON: 'unknown',
  JSONObject: 'Record<string, unknown>',
  SafeInt: 'number',
};

const header = '// Written by npm run generate from the .graphql file beside it.\n';

interface OperationFile {
  /** Relative to the repository, with forward slashes. */
  readonly name: string;
  readonly document: DocumentNode;
}

/**
 * The typed operations of every `.graphql` file below `folder`.
 * @returns text by file name, relative to `root`.
 * @throws Error with every document that does not fit the schema, as `file:line:column: reason`.
 */
export async function operationTexts(
  root: string,
  folder: string,
  schema: GraphQLSchema,
): Promise<Map<string, string>> {
  requireKnownScalars(schema);
  const files = withSharedFragments(await readOperations(root, folder));
  const problems = files.flatMap((file) => validate(schema, file.document).map(located));
  problems.push(...repeatedNames(files));
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const schemaDocument = parse(printSchema(schema));
  const texts = await Promise.all(files.map((file) => generate(file, schema, schemaDocument)));
  return new Map(files.map((file, index) => [generatedName(file.name), texts[index] ?? '']));
}

function generatedName(operations: string): string {
  return operations.replace(/\.graphql$/, '.generated.ts');
}

async function readOperations(root: string, folder: string): Promise<OperationFile[]> {
  const names = globSync(`${folder}/**/*.graphql`, { cwd: root })
    .map((name) => name.replaceAll(path.sep, '/'))
    .toSorted();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(path.join(root, name), 'utf8');
      return { name, document: parseNamed(new Source(text, name)) };
    }),
  );
}

/** Files of fragments alone are there for all the others: each gets those it spreads. */
function withSharedFragments(files: readonly OperationFile[]): OperationFile[] {
  const isShared = ({ document }: OperationFile) =>
    document.definitions.every(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  const shared = files.filter(isShared).flatMap(({ document }) => document.definitions);
  return files
    .filter((file) => !isShared(file))
    .map(({ name, document }) => {
      const spread = spreadsIn(document);
      const used = shared.filter((fragment) => 'name' in fragment && spread.has(`${fragment.name?.value}`));
      return { name, document: { ...document, definitions: [...used, ...document.definitions] } };
    });
}

function spreadsIn(document: DocumentNode): Set<string> {
  const names = new Set<string>();
  visit(document, {
    enter(node) {
      if (node.kind === Kind.FRAGMENT_SPREAD) names.add(node.name.value);
    },
  });
  return names;
}

function parseNamed(source: Source): DocumentNode {
  try {
    return parse(source);
  } catch (error) {
    throw new Error(located(error as GraphQLError), { cause: error });
  }
}

function located(error: GraphQLError): string {
  const [place] = error.locations ?? [];
  return `${error.source?.name}:${place?.line}:${place?.column}: ${error.message}`;
}

/** An operation's name is its operationId in OpenAPI, so it is one for the whole application. */
function repeatedNames(files: readonly OperationFile[]): string[] {
  const first = new Map<string, string>();
  const problems: string[] = [];
  for (const { name, document } of files) {
    for (const definition of document.definitions) {
      if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
      const operation = definition.name?.value;
      if (operation === undefined) {
        problems.push(`${name}: every operation needs a name`);
        continue;
      }
      const earlier = first.get(operation);
      if (earlier !== undefined)
        problems.push(`${name}: ${operation} is already the name of one in ${earlier}`);
      first.set(operation, name);
    }
  }
  return problems;
}

function requireKnownScalars(schema: GraphQLSchema): void {
  const unknown = Object.values(schema.getTypeMap())
    .filter((type) => isScalarType(type) && !isSpecifiedScalarType(type))
    .map((type) => type.name)
    .filter((name) => !Object.hasOwn(scalars, name));
  if (unknown.length > 0)
    throw new Error(`Say in ${import.meta.filename} what travels as ${unknown.join(', ')}`);
}

async function generate(
  file: OperationFile,
  schema: GraphQLSchema,
  schemaDocument: DocumentNode,
): Promise<string> {
  const text = await codegen({
    filename: generatedName(file.name),
    schema: schemaDocument,
    schemaAst: schema,
    documents: [{ location: file.name, document: file.document }],
    // Done above, with the place in the file.
    skipDocumentsValidation: true,
    plugins: [{ typescriptOperations: {} }, { typedDocumentNode: {} }],
    pluginMap: { typescriptOperations, typedDocumentNode },
    config: {
      scalars,
      strictScalars: true,
      enumType: 'string-literal',
      skipTypename: true,
      useTypeImports: true,
      arrayInputCoercion: false,
      // The bridge hands on lists that nobody may change.
      immutableTypes: true,
      dedupeFragments: true,
    },
  });
  return `${header}${text.trimEnd()}\n`;
}
