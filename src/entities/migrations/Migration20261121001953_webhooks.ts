import { Migration } from '@mikro-orm/migrations';

export class Migration20261121001953_webhooks extends Migration {
  override name = 'Migration20261121001953_webhooks';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "webhook" ("id" text not null, "organization_id" text not null, "url" text not null, "name" text null, "events" text[] not null, "sealed_secret" text not null, "active" boolean not null default true, "consecutive_failures" int not null default 0, "disabled_reason" text null, "disabled_at" timestamptz(3) null, "created_by" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "webhook_organization_id_created_at_id_index" on "webhook" ("organization_id", "created_at", "id");`,
    );

    this.addSql(
      `create table "webhook_delivery" ("id" text not null, "webhook_id" text not null, "organization_id" text not null, "event_id" text not null, "event_type" text not null, "generation" int not null default 0, "status" text not null default 'pending', "attempt" int not null default 0, "max_attempts" int not null default 3, "due_at" timestamptz(3) null, "lease_owner" text null, "lease_until" timestamptz(3) null, "response_code" int null, "response_time_ms" int null, "attempts" jsonb not null default '[]', "is_test" boolean not null default false, "delivered_at" timestamptz(3) null, "failed_at" timestamptz(3) null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "webhook_delivery_leased" on "webhook_delivery" ("lease_until") where "lease_owner" is not null;`,
    );
    this.addSql(
      `create index "webhook_delivery_waiting" on "webhook_delivery" ("webhook_id", "due_at") where "status" = 'pending' and "lease_owner" is null;`,
    );
    this.addSql(
      `create index "webhook_delivery_webhook_id_created_at_id_index" on "webhook_delivery" ("webhook_id", "created_at", "id");`,
    );
    this.addSql(
      `alter table "webhook_delivery" add constraint "webhook_delivery_webhook_id_event_id_generation_unique" unique ("webhook_id", "event_id", "generation");`,
    );

    this.addSql(
      `create table "webhook_position" ("id" int not null, "seq" bigint not null, primary key ("id"));`,
    );
    this.addSql(
      `insert into "webhook_position" ("id", "seq") select 1, coalesce(max("seq"), 0) from "event";`,
    );

    this.addSql(`alter table "webhook" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "webhook" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(`create policy "system" on "webhook" to "opsgraph_system" using (true) with check (true);`);

    this.addSql(`alter table "webhook_delivery" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "webhook_delivery" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "webhook_delivery" to "opsgraph_system" using (true) with check (true);`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "webhook" cascade;`);
    this.addSql(`drop table if exists "webhook_delivery" cascade;`);
    this.addSql(`drop table if exists "webhook_position" cascade;`);
  }
}
