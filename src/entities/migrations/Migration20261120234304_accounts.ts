import { Migration } from '@mikro-orm/migrations';

export class Migration20261120234304_accounts extends Migration {
  override name = 'Migration20261120234304_accounts';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "mail" ("id" text not null, "kind" text not null, "sealed_details" text not null, "attempts" int not null default 0, "due_at" timestamptz(3) not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "mail_due_at_index" on "mail" ("due_at");`);

    this.addSql(
      `create table "password_token" ("hash" text not null, "organization_id" text not null, "user_id" text not null, "purpose" text not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, primary key ("hash"));`,
    );
    this.addSql(`create index "password_token_user_id_index" on "password_token" ("user_id");`);
    this.addSql(`create index "password_token_expires_at_index" on "password_token" ("expires_at");`);

    this.addSql(`alter table "organization" add "settings" jsonb not null default '{}';`);

    this.addSql(`alter table "user" alter column "password_hash" drop not null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "mail" cascade;`);
    this.addSql(`drop table if exists "password_token" cascade;`);

    this.addSql(`alter table "organization" drop column "settings";`);

    this.addSql(`alter table "user" alter column "password_hash" set not null;`);
  }
}
