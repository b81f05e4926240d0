import { Migration } from '@mikro-orm/migrations';

export class Migration20261120234533_keys_and_sessions extends Migration {
  override name = 'Migration20261120234533_keys_and_sessions';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "api_key" ("id" text not null, "organization_id" text not null, "created_by_id" text not null, "name" text not null, "hash" text not null, "permissions" text[] not null default '{}', "rate_limit_per_minute" int not null, "expires_at" timestamptz(3) null, "last_used_at" timestamptz(3) null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "api_key_organization_id_index" on "api_key" ("organization_id");`);
    this.addSql(`create index "api_key_created_by_id_index" on "api_key" ("created_by_id");`);
    this.addSql(`alter table "api_key" add constraint "api_key_hash_unique" unique ("hash");`);

    this.addSql(
      `create table "revoked_token" ("token_id" text not null, "organization_id" text not null, "revoked_at" timestamptz(3) not null, primary key ("token_id"));`,
    );
    this.addSql(`create index "revoked_token_revoked_at_index" on "revoked_token" ("revoked_at");`);

    this.addSql(
      `create table "user_identity" ("id" text not null, "organization_id" text not null, "user_id" text not null, "issuer" text not null, "subject" text not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "user_identity_user_id_index" on "user_identity" ("user_id");`);
    this.addSql(
      `alter table "user_identity" add constraint "user_identity_issuer_subject_unique" unique ("issuer", "subject");`,
    );

    this.addSql(
      `alter table "session" add "sliding_expiration" boolean not null default true, add "last_used_at" timestamptz(3) null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "api_key" cascade;`);
    this.addSql(`drop table if exists "revoked_token" cascade;`);
    this.addSql(`drop table if exists "user_identity" cascade;`);

    this.addSql(`alter table "session" drop column "sliding_expiration", drop column "last_used_at";`);
  }
}
