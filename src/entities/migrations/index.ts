import { Migration20261120230056_initial } from './Migration20261120230056_initial.js';
import { Migration20261120230157_ticket_order_indexes } from './Migration20261120230157_ticket_order_indexes.js';
import { Migration20261120230400_event_sequence } from './Migration20261120230400_event_sequence.js';
import { Migration20261120233401_ticket_total_lock } from './Migration20261120233401_ticket_total_lock.js';
import { Migration20261120233510_audit } from './Migration20261120233510_audit.js';
import { Migration20261120233852_account_safety } from './Migration20261120233852_account_safety.js';
import { Migration20261120234304_accounts } from './Migration20261120234304_accounts.js';
import { Migration20261120234533_keys_and_sessions } from './Migration20261120234533_keys_and_sessions.js';
import { Migration20261120235018_password_token_mail } from './Migration20261120235018_password_token_mail.js';
import { Migration20261120235332_sso } from './Migration20261120235332_sso.js';
import { Migration20261121000010_row_security } from './Migration20261121000010_row_security.js';
import { Migration20261121001953_webhooks } from './Migration20261121001953_webhooks.js';
import { Migration20261121002338_idempotency } from './Migration20261121002338_idempotency.js';
import { Migration20261121025611_pipeline_lifecycle_stage } from './Migration20261121025611_pipeline_lifecycle_stage.js';
import { Migration20261121030221_webhook_delivery_log } from './Migration20261121030221_webhook_delivery_log.js';
import { Migration20261121034706_runs_parameters_checks_lineage } from './Migration20261121034706_runs_parameters_checks_lineage.js';
import { Migration20261121045950_run_queue_and_retries } from './Migration20261121045950_run_queue_and_retries.js';
import { Migration20261121052257_watermark_sources } from './Migration20261121052257_watermark_sources.js';
import { Migration20261121055651_task_progress } from './Migration20261121055651_task_progress.js';
import { Migration20261121060030_run_retention } from './Migration20261121060030_run_retention.js';
import { Migration20261121094403_rows_read_unknown } from './Migration20261121094403_rows_read_unknown.js';

/** Written by scripts/create-migration.ts. The names are what the database remembers: never rename one. */
export const migrations = [
  { name: 'Migration20261120230056_initial', class: Migration20261120230056_initial },
  {
    name: 'Migration20261120230157_ticket_order_indexes',
    class: Migration20261120230157_ticket_order_indexes,
  },
  { name: 'Migration20261120230400_event_sequence', class: Migration20261120230400_event_sequence },
  { name: 'Migration20261120233401_ticket_total_lock', class: Migration20261120233401_ticket_total_lock },
  { name: 'Migration20261120233510_audit', class: Migration20261120233510_audit },
  { name: 'Migration20261120233852_account_safety', class: Migration20261120233852_account_safety },
  { name: 'Migration20261120234304_accounts', class: Migration20261120234304_accounts },
  { name: 'Migration20261120234533_keys_and_sessions', class: Migration20261120234533_keys_and_sessions },
  { name: 'Migration20261120235018_password_token_mail', class: Migration20261120235018_password_token_mail },
  { name: 'Migration20261120235332_sso', class: Migration20261120235332_sso },
  { name: 'Migration20261121000010_row_security', class: Migration20261121000010_row_security },
  { name: 'Migration20261121001953_webhooks', class: Migration20261121001953_webhooks },
  { name: 'Migration20261121002338_idempotency', class: Migration20261121002338_idempotency },
  {
    name: 'Migration20261121025611_pipeline_lifecycle_stage',
    class: Migration20261121025611_pipeline_lifecycle_stage,
  },
  {
    name: 'Migration20261121030221_webhook_delivery_log',
    class: Migration20261121030221_webhook_delivery_log,
  },
  {
    name: 'Migration20261121034706_runs_parameters_checks_lineage',
    class: Migration20261121034706_runs_parameters_checks_lineage,
  },
  {
    name: 'Migration20261121045950_run_queue_and_retries',
    class: Migration20261121045950_run_queue_and_retries,
  },
  { name: 'Migration20261121052257_watermark_sources', class: Migration20261121052257_watermark_sources },
  { name: 'Migration20261121055651_task_progress', class: Migration20261121055651_task_progress },
  { name: 'Migration20261121060030_run_retention', class: Migration20261121060030_run_retention },
  { name: 'Migration20261121094403_rows_read_unknown', class: Migration20261121094403_rows_read_unknown },
];
