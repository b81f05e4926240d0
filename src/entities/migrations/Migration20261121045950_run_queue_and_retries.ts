import { Migration } from '@mikro-orm/migrations';

export class Migration20261121045950_run_queue_and_retries extends Migration {
  override name = 'Migration20261121045950_run_queue_and_retries';

  override up(): void | Promise<void> {
    this.addSql(`drop index "run_unfinished";`);
    this.addSql(
      `alter table "run" add "priority" smallint not null default 1, add "is_exclusive" boolean not null default false, add "watermarks" jsonb null, add "retry_of" uuid null, add "first_run_id" uuid null, add "logical_time" timestamptz(3) null, add "losses" smallint not null default 0;`,
    );
    this.addSql(`alter table "run" add constraint "run_retry_of_unique" unique ("retry_of");`);
    this.addSql(
      `create index "run_active" on "run" ("lease_until") where "state" in ('QUEUED', 'RUNNING', 'HEALING') and "started_at" is not null;`,
    );
    this.addSql(
      `create index "run_waiting" on "run" ("priority" desc, "created_at", "id") where "state" = 'QUEUED' and "started_at" is null;`,
    );

    this.addSql(`alter table "run_task" add "failures" int not null default 0;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "run" drop constraint "run_retry_of_unique";`);
    this.addSql(`drop index "run_active";`);
    this.addSql(`drop index "run_waiting";`);
    this.addSql(
      `alter table "run" drop column "priority", drop column "is_exclusive", drop column "watermarks", drop column "retry_of", drop column "first_run_id", drop column "logical_time", drop column "losses";`,
    );
    this.addSql(
      `create index "run_unfinished" on "run" ("lease_until") where "state" in ('QUEUED', 'RUNNING', 'HEALING');`,
    );

    this.addSql(`alter table "run_task" drop column "failures";`);
  }
}
