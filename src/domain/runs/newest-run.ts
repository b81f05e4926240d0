/**
 * SQL that says whether the pipeline stands as this run does: no newer one has begun or ended; those that wait don't count.
 * `run` is what has the columns of its row. The index of a pipeline's runs by age answers it.
 */
export const isNewestRun = (run: string): string => `NOT EXISTS (SELECT FROM "run" AS newer
  WHERE newer."pipeline_id" = ${run}."pipeline_id" AND newer."state" <> 'QUEUED'
    AND (newer."created_at", newer."id") > (${run}."created_at", ${run}."id"))`;
