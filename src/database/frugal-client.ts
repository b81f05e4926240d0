import { Client, type QueryResult } from 'pg';

type Callback = (error: Error | undefined, result: QueryResult) => void;

/**
 * pg's client, whose answered queries are garbage at once. pg itself keeps a promised answer by a function that it writes
 * straight into a property, which V8 makes old at once (`set_pretenure` in its parser): query, rows and whatever waits for
 * them outlive each scavenge, up to the next full collection (docs/decisions/reading-lists.md). A callback has no such
 * function.
 */
export class FrugalClient extends Client {
  override query(...given: unknown[]): never;
  override query(config: unknown, values?: unknown, callback?: Callback): unknown {
    const ask = super.query as (
      this: Client,
      config: unknown,
      values: unknown,
      callback?: Callback,
    ) => unknown;
    if (callback !== undefined || typeof values === 'function' || isSubmittable(config))
      return ask.call(this, config, values, callback);
    const answered = new Promise<QueryResult>((resolve, reject) => {
      ask.call(this, config, values, (error, result) => (error ? reject(error) : resolve(result)));
    });
    return answered.catch(withOwnStack);
  }
}

/** pg-cursor and the like, which come with their own way to answer. */
function isSubmittable(config: unknown): boolean {
  return typeof config === 'object' && config !== null && ('submit' in config || 'callback' in config);
}

/** Of whoever asked; the error's own begins where the socket was read. */
function withOwnStack(error: Error): never {
  Error.captureStackTrace(error);
  throw error;
}
