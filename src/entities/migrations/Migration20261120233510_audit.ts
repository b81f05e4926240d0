import { Migration } from '@mikro-orm/migrations';

export class Migration20261120233510_audit extends Migration {
  override name = 'Migration20261120233510_audit';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "audit_chain" ("organization_id" text not null, "length" bigint not null, "head" text not null, primary key ("organization_id"));`,
    );

    this.addSql(
      `create table "audit_entry" ("id" text not null, "organization_id" text not null, "position" bigint not null, "occurred_at" timestamptz(3) not null, "action" text not null, "actor_type" text not null, "actor_id" text null, "resource_type" text not null, "resource_id" text null, "before" jsonb null, "after" jsonb null, "address" text null, "request_id" text null, "previous_hash" text not null, "hash" text not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "audit_entry" add constraint "audit_entry_organization_id_position_unique" unique ("organization_id", "position");`,
    );

    this.addSql(`create or replace function "audit_chain_audit_chain_only_grows_fn"() returns trigger as $$ begin IF TG_OP = 'UPDATE' AND NEW.organization_id = OLD.organization_id
      AND (NEW.length = OLD.length + 1 OR (NEW.length = OLD.length AND NEW.head = OLD.head)) THEN
      RETURN NEW;     END IF;     RAISE EXCEPTION 'An audit chain only grows' USING ERRCODE = 'restrict_violation'; end; $$ language plpgsql;`);
    this.addSql(
      `create trigger "audit_chain_only_grows" BEFORE UPDATE OR DELETE on "audit_chain" for each ROW execute function "audit_chain_audit_chain_only_grows_fn"();`,
    );

    this.addSql(
      `create or replace function "audit_entry_audit_entry_append_only_fn"() returns trigger as $$ begin RAISE EXCEPTION 'Audit entries are append-only' USING ERRCODE = 'restrict_violation'; end; $$ language plpgsql;`,
    );
    // OR TRUNCATE is written by hand, see the entity.
    this.addSql(
      `create trigger "audit_entry_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE on "audit_entry" for each STATEMENT execute function "audit_entry_audit_entry_append_only_fn"();`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop trigger if exists "audit_chain_only_grows" on "audit_chain";`);
    this.addSql(`drop function if exists "audit_chain_audit_chain_only_grows_fn"();`);
    this.addSql(`drop table if exists "audit_chain" cascade;`);
    this.addSql(`drop trigger if exists "audit_entry_append_only" on "audit_entry";`);
    this.addSql(`drop function if exists "audit_entry_audit_entry_append_only_fn"();`);
    this.addSql(`drop table if exists "audit_entry" cascade;`);
  }
}
