import { writeFile } from 'node:fs/promises';
import type { TaskOutcome } from '../../engine.js';
import type { InlineSourceSpec } from '../../task-spec.js';
import { exactSelect, saveResult, withScratchFile } from '../run-files.js';
import { fileLiteral } from '../sql-text.js';
import { type TaskContext, withDuckDb } from '../task-context.js';
import { jsonOptions } from './file-source.js';

/** Rows written in the definition itself; types are read from the values unless `columns` names them. */
export function runInlineSource(context: TaskContext, spec: InlineSourceSpec): Promise<TaskOutcome> {
  const { task } = context;
  return withScratchFile(context, 'ndjson', async (path) => {
    await writeFile(path, spec.rows.map((row) => `${JSON.stringify(row)}\n`).join(''), { mode: 0o600 });
    return withDuckDb(context, 'loader', async (connection) => {
      const options = jsonOptions('ndjson', spec.columns).join(', ');
      const from = `read_json(${fileLiteral(path)}, ${options})`;
      const saved = await saveResult(context, connection, await exactSelect(connection, from));
      context.log('INFO', `${task.id}: ${saved.rows} rows`);
      return saved;
    });
  });
}
