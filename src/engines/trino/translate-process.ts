import { BoundedProcess, BoundsExceeded } from '../../bounded-process.js';
import { EngineError } from '../engine-error.js';
import type { ReadableTables, SourceDialect } from './translate-sql.js';

export interface TranslateWork {
  sql: string;
  from: SourceDialect;
  readable: ReadableTables;
}

export type TranslateAnswer = { sql: string } | { refused: string };

/** 65,000 characters take 1.8 s of a processor. A statement that is not done fails its run, so there is some room. */
const DEADLINE_MS = 5_000;

const translator = new BoundedProcess<TranslateWork, TranslateAnswer>(
  'engines/trino/translate-child.js',
  DEADLINE_MS,
);

/**
 * translateQuery() beside the server's thread: an author's SQL may be as long as it likes.
 * @throws EngineError SQL, also when it takes too long; the signal's reason
 */
export async function translateBeside(work: TranslateWork, signal: AbortSignal): Promise<string> {
  try {
    const answer = await translator.run(work, signal);
    if ('sql' in answer) return answer.sql;
    throw new EngineError('SQL', answer.refused);
  } catch (cause) {
    if (!(cause instanceof BoundsExceeded)) throw cause;
    throw new EngineError('SQL', `The SQL cannot be put into Trino's dialect: ${cause.message}.`, { cause });
  }
}
