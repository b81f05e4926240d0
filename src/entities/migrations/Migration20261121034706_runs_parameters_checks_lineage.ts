import { Migration } from '@mikro-orm/migrations';

export class Migration20261121034706_runs_parameters_checks_lineage extends Migration {
  override name = 'Migration20261121034706_runs_parameters_checks_lineage';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "lineage_event" ("id" bigserial primary key, "organization_id" text not null, "workspace_id" uuid not null, "run_id" uuid not null, "event_type" text not null, "event_time" timestamptz(3) not null, "event" jsonb not null, "posted_at" timestamptz(3) null, "attempts" int not null default 0);`,
    );
    this.addSql(`create index "lineage_event_unposted" on "lineage_event" ("id") where "posted_at" is null;`);
    this.addSql(
      `create index "lineage_event_workspace_id_id_index" on "lineage_event" ("workspace_id", "id");`,
    );
    this.addSql(
      `alter table "lineage_event" add constraint "lineage_event_run_id_event_type_unique" unique ("run_id", "event_type");`,
    );

    this.addSql(
      `create table "source_watermark" ("pipeline_id" uuid not null, "task_id" text not null, "value" text not null, "updated_at" timestamptz(3) not null, primary key ("pipeline_id", "task_id"));`,
    );

    this.addSql(`alter table "run" add "parameters" jsonb not null default '{}';`);

    this.addSql(
      `alter table "run_task" add "bytes" bigint null, add "columns" jsonb null, add "checks" jsonb null, add "watermark" text null;`,
    );

    this.addSql(`alter table "lineage_event" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "lineage_event" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "lineage_event" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "source_watermark" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "source_watermark" to "opsgraph_app" using (exists (select 1 from pipeline owner where owner.id = source_watermark.pipeline_id)) with check (exists (select 1 from pipeline owner where owner.id = source_watermark.pipeline_id));`,
    );
    this.addSql(
      `create policy "system" on "source_watermark" to "opsgraph_system" using (true) with check (true);`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "lineage_event" cascade;`);
    this.addSql(`drop table if exists "source_watermark" cascade;`);

    this.addSql(`alter table "run" drop column "parameters";`);

    this.addSql(
      `alter table "run_task" drop column "bytes", drop column "columns", drop column "checks", drop column "watermark";`,
    );
  }
}
