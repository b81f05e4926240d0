import { serveThread } from '../../bounded-thread.js';
import { EngineError } from '../engine-error.js';
import { translateQuery } from './translate-sql.js';
import type { TranslateAnswer, TranslateWork } from './translate-thread.js';

serveThread(async ({ sql, from, readable }: TranslateWork): Promise<TranslateAnswer> => {
  try {
    return { sql: translateQuery(sql, from, readable) };
  } catch (error) {
    if (error instanceof EngineError) return { refused: error.message };
    throw error;
  }
});
