import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Services } from '../../context.js';
import type { EngineSession, FileConnectionTarget } from '../../engines/engine.js';
import type { FileOwners } from '../../engines/file-owners.js';
import type { DiscoveredColumn, DiscoveredSchema } from '../../integrations/connections/discovered-schema.js';
import type { FoundFile, FoundFiles } from '../../integrations/connections/file-system.js';

/** A file is read as a source reads it, whole: past these, files are listed without their columns. */
const MAX_FILE_BYTES = 16_000_000;
const MAX_READ = 20;

/** Files as tables, their columns read by the engine's own process: nothing of a file is parsed in this one. */
export async function describeFiles(
  services: Services,
  target: FileConnectionTarget,
  owners: FileOwners,
  found: FoundFiles,
  signal: AbortSignal,
): Promise<DiscoveredSchema> {
  const readable = found.files.filter(({ bytes }) => bytes <= MAX_FILE_BYTES).slice(0, MAX_READ);
  const columns = await columnsOf(services, target, owners, readable, signal);
  const tables = found.files.map((file) => ({
    schema: '',
    name: file.path,
    columns: columns.get(file.path) ?? [],
  }));
  return { tables, truncated: found.truncated || readable.length < found.files.length };
}

async function columnsOf(
  { config, engines }: Services,
  target: FileConnectionTarget,
  fileOwners: FileOwners,
  files: readonly FoundFile[],
  signal: AbortSignal,
): Promise<Map<string, DiscoveredColumn[]>> {
  const engine = engines.get('BATCH');
  if (!engine || files.length === 0) return new Map();
  const runDirectory = await mkdtemp(path.join(config.dataDir, 'discovery-'));
  const session = await engine.open({
    runId: path.basename(runDirectory),
    runDirectory,
    memoryLimitMb: 512,
    threads: 1,
    filesRoots: config.filesRoots,
    filesBase: path.join(config.dataDir, 'files'),
    fileOwners,
    maskKey: '',
    resolveConnection: async () => target,
  });
  try {
    const described = new Map<string, DiscoveredColumn[]>();
    for (const [index, file] of files.entries())
      described.set(file.path, await readColumns(session, `file${index}`, file, signal));
    return described;
  } finally {
    await session.close();
    await rm(runDirectory, { recursive: true, force: true });
  }
}

/** A file that cannot be read is listed all the same. */
async function readColumns(
  session: EngineSession,
  id: string,
  { path: file, format }: FoundFile,
  signal: AbortSignal,
): Promise<DiscoveredColumn[]> {
  const spec = { kind: 'source', type: 'file', connection: 'discovered', path: file, format } as const;
  const hooks = { signal, log: () => undefined };
  const outcome = await session.execute({ id, inputs: [], spec }, hooks).catch((error: unknown) => {
    if (signal.aborted) throw error;
    return undefined;
  });
  return (outcome?.columns ?? []).map(({ name, type }) => ({
    name,
    type,
    nullable: true,
    primaryKey: false,
  }));
}
