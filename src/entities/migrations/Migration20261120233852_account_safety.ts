import { Migration } from '@mikro-orm/migrations';

export class Migration20261120233852_account_safety extends Migration {
  override name = 'Migration20261120233852_account_safety';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "backup_code" ("user_id" text not null, "hash" text not null, "organization_id" text not null, primary key ("user_id", "hash"));`,
    );

    this.addSql(
      `create table "login_guard" ("account_key" text not null, "state" jsonb not null, "updated_at" timestamptz(3) not null, primary key ("account_key"));`,
    );
    this.addSql(`create index "login_guard_updated_at_index" on "login_guard" ("updated_at");`);

    this.addSql(
      `create table "mfa_challenge" ("token_hash" text not null, "organization_id" text not null, "user_id" text not null, "attempts" int not null default 0, "assertion_challenge" text null, "device_fingerprint" text null, "expires_at" timestamptz(3) not null, primary key ("token_hash"));`,
    );
    this.addSql(`create index "mfa_challenge_user_id_index" on "mfa_challenge" ("user_id");`);
    this.addSql(`create index "mfa_challenge_expires_at_index" on "mfa_challenge" ("expires_at");`);

    this.addSql(
      `create table "mfa_setup" ("user_id" text not null, "method" text not null, "organization_id" text not null, "sealed" text not null, "expires_at" timestamptz(3) not null, primary key ("user_id", "method"));`,
    );
    this.addSql(`create index "mfa_setup_expires_at_index" on "mfa_setup" ("expires_at");`);

    this.addSql(
      `create table "totp_factor" ("user_id" text not null, "organization_id" text not null, "sealed_secret" text not null, "last_step" int not null, "created_at" timestamptz(3) not null, primary key ("user_id"));`,
    );

    this.addSql(
      `create table "webauthn_credential" ("id" text not null, "organization_id" text not null, "user_id" text not null, "public_key" text not null, "counter" bigint not null, "transports" text[] not null default '{}', "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "webauthn_credential_user_id_index" on "webauthn_credential" ("user_id");`);

    this.addSql(`alter table "user" add "locked_at" timestamptz(3) null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "backup_code" cascade;`);
    this.addSql(`drop table if exists "login_guard" cascade;`);
    this.addSql(`drop table if exists "mfa_challenge" cascade;`);
    this.addSql(`drop table if exists "mfa_setup" cascade;`);
    this.addSql(`drop table if exists "totp_factor" cascade;`);
    this.addSql(`drop table if exists "webauthn_credential" cascade;`);

    this.addSql(`alter table "user" drop column "locked_at";`);
  }
}
