import type { ResultColumn } from '../../engine.js';
import { EngineError } from '../../engine-error.js';
import type { Checked } from './checked.js';

/** The column as the result spells it. @throws EngineError SQL */
export function checkedColumn({ columns }: Pick<Checked, 'columns'>, name: string): ResultColumn {
  const column = columns.find((each) => each.name.toLowerCase() === name.toLowerCase());
  if (!column) throw new EngineError('SQL', `the result has no column "${name}".`);
  return column;
}
