import '../../outlive-signals.js';
import { serveParent } from '../../bounded-process.js';
import { EngineError } from '../engine-error.js';
import type { TranslateAnswer, TranslateWork } from './translate-process.js';
import { translateQuery } from './translate-sql.js';

serveParent(async ({ sql, from, readable }: TranslateWork): Promise<TranslateAnswer> => {
  try {
    return { sql: translateQuery(sql, from, readable) };
  } catch (error) {
    if (error instanceof EngineError) return { refused: error.message };
    throw error;
  }
});
