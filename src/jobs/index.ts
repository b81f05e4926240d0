import type { JobDefinition } from './define-job.js';
import { emitLineageJob } from './emit-lineage.job.js';
import { executeRunJob } from './execute-run.job.js';
import { postLineageJob } from './post-lineage.job.js';
import { rotateSigningKeysJob } from './rotate-signing-keys.job.js';
import { sendMailJob } from './send-mail.job.js';
import { sweepIdentityJob } from './sweep-identity.job.js';
import { sweepLogJob } from './sweep-log.job.js';
import { sweepMailJob } from './sweep-mail.job.js';
import { sweepRunHistoryJob } from './sweep-run-history.job.js';
import { sweepRunsJob } from './sweep-runs.job.js';

/** The explicit list: a job that is not here is not run. */
export const jobs: readonly JobDefinition[] = [
  executeRunJob,
  emitLineageJob,
  postLineageJob,
  sendMailJob,
  rotateSigningKeysJob,
  sweepIdentityJob,
  sweepLogJob,
  sweepMailJob,
  sweepRunsJob,
  sweepRunHistoryJob,
];
