import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { compile, root } from './generate/compile.ts';
import { openApiTexts } from './generate/openapi.ts';
import { operationTexts } from './generate/operations.ts';
import { permissionsText } from './generate/permissions.ts';
import { settle } from './generate/settle.ts';

/**
 * `npm run generate` writes everything that follows from the resolvers and the rows; `--check` writes nothing and
 * exits 1 with the names of the files that differ.
 *
 * The order matters, because src/rest does not compile without its generated operations: tsc emits in spite of type
 * errors, the graph (which imports nothing of src/rest) comes from what it emitted, operations are typed against the
 * graph, and only then are the rows compiled again and read for OpenAPI.
 */
async function generate(check: boolean): Promise<string[]> {
  const complaints = compile();
  const schema = await loadSchema(complaints);
  const sdl = `${printSchema(lexicographicSortSchema(schema))}\n`;
  const drift = [
    ...(await settle(root, 'schema/schema.graphql', new Map([['schema/schema.graphql', sdl]]), check)),
    ...(await settle(
      root,
      'src/rest/**/*.generated.ts',
      await operationTexts(root, 'src/rest', schema),
      check,
    )),
  ];
  // Rows that were compiled against other operations than these say nothing about OpenAPI.
  if (check && drift.length > 0) return drift;
  if (drift.length > 0) compile();
  drift.push(...(await settle(root, 'schema/openapi/*.json', await openApiTexts(root, schema), check)));
  const permissions = new Map([['docs/permissions.md', await permissionsText(schema)]]);
  drift.push(...(await settle(root, 'docs/permissions.md', permissions, check)));
  return drift;
}

async function loadSchema(complaints: string): Promise<GraphQLSchema> {
  try {
    const { buildGraph } = await import('../dist/graph/build-schema.js');
    const { resolvers } = await import('../dist/resolvers/index.js');
    return buildGraph(resolvers);
  } catch (error) {
    process.stderr.write(complaints);
    throw error;
  }
}

const check = process.argv.includes('--check');
const drift = await generate(check);
for (const name of drift) process.stdout.write(`${check ? 'differs' : 'written'}: ${name}\n`);
if (check && drift.length > 0) process.exitCode = 1;
