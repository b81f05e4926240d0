import { isIPv6 } from 'node:net';
import { pathToFileURL } from 'node:url';
import type { ConnectionTarget } from '../../engines/engine.js';
import type { TaskSpec } from '../../engines/task-spec.js';

/** OpenLineage dataset naming, https://openlineage.io/docs/spec/naming */
export interface DatasetId {
  namespace: string;
  name: string;
}

/**
 * The dataset a source reads or a target writes; undefined for rows written in the definition itself.
 * `target` is what the task's connection comes to, without credentials being looked at.
 */
export function datasetOf(
  { id, spec }: { id: string; spec: TaskSpec },
  target: ConnectionTarget | undefined,
  filesBase: string,
): DatasetId | undefined {
  if (spec.kind === 'transformation' || spec.type === 'inline') return undefined;
  if (spec.type === 'file') return fileDataset(spec.path, target, filesBase);
  if (spec.type === 'http') {
    const base = target?.type === 'http' ? new URL(target.baseUrl) : undefined;
    // What is asked of a page is not its name, and may hold a key.
    const [page = ''] = spec.path.split('?');
    const path = `${base?.pathname.replace(/\/$/, '') ?? ''}/${page.replace(/^\//, '')}`;
    return { namespace: base?.origin ?? 'http', name: path };
  }
  if (target?.type !== 'postgres' && target?.type !== 'mysql') return undefined;
  const host = isIPv6(target.host) ? `[${target.host}]` : target.host;
  const namespace = `${target.type}://${host}:${target.port}`;
  // A query is no table: it is named by the task that holds it.
  const table = 'table' in spec && spec.table !== undefined ? spec.table : `query.${id}`;
  const schema = target.type === 'postgres' && !table.includes('.') ? 'public.' : '';
  return { namespace, name: `${target.database}.${schema}${table}` };
}

/** Where a dataset's source is, as a URI; undefined where that is not known any more. */
export function sourceUri({ namespace, name }: DatasetId): string | undefined {
  if (namespace === 'file') return pathToFileURL(name).href;
  return URL.canParse(namespace) ? namespace : undefined;
}

function fileDataset(path: string, target: ConnectionTarget | undefined, filesBase: string): DatasetId {
  if (target?.type === 'file' && target.storage === 's3') {
    return { namespace: `s3://${target.bucket}`, name: [target.prefix, path].filter(Boolean).join('/') };
  }
  const root = target?.type === 'file' && target.storage === 'local' ? target.root : filesBase;
  return { namespace: 'file', name: path.startsWith('/') ? path : `${root.replace(/\/$/, '')}/${path}` };
}
