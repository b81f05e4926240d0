import { Migration } from '@mikro-orm/migrations';

export class Migration20261120235332_sso extends Migration {
  override name = 'Migration20261120235332_sso';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "sso_identity" ("organization_id" text not null, "issuer" text not null, "subject" text not null, "user_id" text not null, "created_at" timestamptz(3) not null, primary key ("organization_id", "issuer", "subject"));`,
    );
    this.addSql(`create index "sso_identity_user_id_index" on "sso_identity" ("user_id");`);

    this.addSql(
      `create table "sso_login" ("state_hash" text not null, "organization_id" text not null, "provider_id" text not null, "nonce" text not null, "sealed_verifier" text null, "callback_url" text not null, "code_challenge" text not null, "redirect_uri" text null, "client_state" text null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, "answered_at" timestamptz(3) null, "code_hash" text null, "user_id" text null, "exchanged_at" timestamptz(3) null, "session_id" text null, primary key ("state_hash"));`,
    );
    this.addSql(`create index "sso_login_expires_at_index" on "sso_login" ("expires_at");`);
    this.addSql(`alter table "sso_login" add constraint "sso_login_code_hash_unique" unique ("code_hash");`);

    this.addSql(
      `create table "sso_provider" ("id" text not null, "organization_id" text not null, "provider" text not null, "name" text not null, "enabled" boolean not null, "redirect_uris" text[] not null default '{}', "issuer" text not null, "client_id" text null, "sealed_client_secret" text null, "scopes" text[] not null default '{}', "entry_point" text null, "certificates" text[] not null default '{}', "email_domains" text[] not null default '{}', "provision_users" boolean not null, "default_role" text null, "groups_claim" text null, "group_roles" jsonb not null default '[]', "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "sso_provider" add constraint "sso_provider_organization_id_provider_unique" unique ("organization_id", "provider");`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "sso_identity" cascade;`);
    this.addSql(`drop table if exists "sso_login" cascade;`);
    this.addSql(`drop table if exists "sso_provider" cascade;`);
  }
}
