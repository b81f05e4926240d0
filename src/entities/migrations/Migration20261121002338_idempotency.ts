import { Migration } from '@mikro-orm/migrations';

export class Migration20261121002338_idempotency extends Migration {
  override name = 'Migration20261121002338_idempotency';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "idempotent_answer" ("organization_id" text not null, "caller_id" text not null, "key_hash" text not null, "request_hash" text not null, "request_id" text not null, "sealed_answer" text null, "created_at" timestamptz(3) not null, primary key ("organization_id", "caller_id", "key_hash"));`,
    );
    this.addSql(`create index "idempotent_answer_created_at_index" on "idempotent_answer" ("created_at");`);

    this.addSql(`create index "event_age" on "event" using brin ("timestamp");`);

    this.addSql(`alter table "idempotent_answer" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "idempotent_answer" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "idempotent_answer" to "opsgraph_system" using (true) with check (true);`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "idempotent_answer" cascade;`);

    this.addSql(`drop index "event_age";`);
  }
}
