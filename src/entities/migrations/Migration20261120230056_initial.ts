import { Migration } from '@mikro-orm/migrations';

export class Migration20261120230056_initial extends Migration {
  override name = 'Migration20261120230056_initial';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "connection" ("id" uuid not null, "organization_id" text not null, "workspace_id" uuid not null, "name" text not null, "type" text not null, "config" jsonb not null, "sealed_credentials" text null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "created_by" text not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "connection" add constraint "connection_workspace_id_name_unique" unique ("workspace_id", "name");`,
    );

    this.addSql(
      `create table "event" ("id" text not null, "position" bigserial not null, "seq" bigint null, "organization_id" text not null, "type" text not null, "subject_id" text not null, "payload" jsonb not null, "timestamp" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "event" add constraint "event_seq_unique" unique ("seq");`);
    this.addSql(`create index "event_unsequenced" on "event" ("position") where "seq" is null;`);
    this.addSql(`create index "event_organization_id_seq_index" on "event" ("organization_id", "seq");`);

    this.addSql(
      `create table "oidc_artifact" ("model" text not null, "id" text not null, "payload" jsonb not null, "grant_id" text null, "uid" text null, "user_code" text null, "consumed_at" timestamptz(3) null, "expires_at" timestamptz(3) null, primary key ("model", "id"));`,
    );
    this.addSql(`create index "oidc_artifact_grant_id_index" on "oidc_artifact" ("grant_id");`);
    this.addSql(`create index "oidc_artifact_uid_index" on "oidc_artifact" ("uid");`);
    this.addSql(`create index "oidc_artifact_user_code_index" on "oidc_artifact" ("user_code");`);
    this.addSql(`create index "oidc_artifact_expires_at_index" on "oidc_artifact" ("expires_at");`);

    this.addSql(
      `create table "oidc_client" ("client_id" text not null, "kind" text not null, "sealed_secret" text null, "redirect_uris" text[] not null default '{}', "roles" text[] not null default '{}', "workspace_id" uuid null, "created_at" timestamptz(3) not null, primary key ("client_id"));`,
    );

    this.addSql(
      `create table "organization" ("id" text not null, "slug" text not null, "name" text not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "organization" add constraint "organization_slug_unique" unique ("slug");`);

    this.addSql(
      `create table "pipeline" ("id" uuid not null, "organization_id" text not null, "workspace_id" uuid not null, "name" text not null, "description" text null, "yaml_definition" text not null, "version" int not null default 1, "status" text not null default 'DRAFT', "schedule_cron" text null, "tags" text[] not null default '{}', "source_connection_id" uuid null, "target_connection_id" uuid null, "max_retries" int not null default 3, "retry_delay_seconds" int not null default 60, "timeout_seconds" int not null default 3600, "notifications" jsonb null, "is_active" boolean not null default true, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "created_by" text not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "pipeline_workspace_id_created_at_id_index" on "pipeline" ("workspace_id", "created_at", "id");`,
    );

    this.addSql(
      `create table "pipeline_revision" ("pipeline_id" uuid not null, "version" int not null, "organization_id" text not null, "workspace_id" uuid not null, "yaml_definition" text not null, "author" text not null, "message" text not null, "created_at" timestamptz(3) not null, primary key ("pipeline_id", "version"));`,
    );

    this.addSql(
      `create table "refresh_token" ("hash" text not null, "organization_id" text not null, "session_id" text not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, "used_at" timestamptz(3) null, primary key ("hash"));`,
    );
    this.addSql(`create index "refresh_token_session_id_index" on "refresh_token" ("session_id");`);
    this.addSql(`create index "refresh_token_expires_at_index" on "refresh_token" ("expires_at");`);

    this.addSql(
      `create table "run" ("id" uuid not null, "organization_id" text not null, "workspace_id" uuid not null, "pipeline_id" uuid not null, "pipeline_version" int not null, "yaml_definition" text not null, "state" text not null default 'QUEUED', "engine" text not null, "task_count" int not null, "triggered_by" text not null, "error" text null, "lease_owner" text null, "lease_until" timestamptz(3) null, "attempts" int not null default 0, "cancel_requested_at" timestamptz(3) null, "last_seq" int not null default 0, "rows_read" bigint not null default '0', "rows_written" bigint not null default '0', "healing" jsonb not null default '[]', "created_at" timestamptz(3) not null, "started_at" timestamptz(3) null, "finished_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(
      `create index "run_unfinished" on "run" ("lease_until") where "state" in ('QUEUED', 'RUNNING', 'HEALING');`,
    );
    this.addSql(
      `create index "run_pipeline_id_created_at_id_index" on "run" ("pipeline_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "run_workspace_id_created_at_id_index" on "run" ("workspace_id", "created_at", "id");`,
    );

    this.addSql(
      `create table "run_message" ("run_id" uuid not null, "seq" int not null, "type" text not null, "body" jsonb not null, "timestamp" timestamptz(3) not null, primary key ("run_id", "seq"));`,
    );

    this.addSql(
      `create table "run_task" ("run_id" uuid not null, "task_id" text not null, "position" int not null, "status" text not null default 'PENDING', "attempt" int not null default 0, "error" text null, "rows" bigint null, "started_at" timestamptz(3) null, "finished_at" timestamptz(3) null, primary key ("run_id", "task_id"));`,
    );

    this.addSql(
      `create table "session" ("id" text not null, "organization_id" text not null, "user_id" text not null, "created_at" timestamptz(3) not null, "device_fingerprint" text null, "expires_at" timestamptz(3) not null, "revoked_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "session_user_id_index" on "session" ("user_id");`);
    this.addSql(`create index "session_expires_at_index" on "session" ("expires_at");`);
    this.addSql(`create index "session_revoked_at_index" on "session" ("revoked_at");`);

    this.addSql(
      `create table "signing_key" ("kid" text not null, "purpose" text not null, "public_jwk" jsonb not null, "sealed_private_jwk" text not null, "created_at" timestamptz(3) not null, "retired_at" timestamptz(3) null, primary key ("kid"));`,
    );

    this.addSql(
      `create table "team" ("id" text not null, "organization_id" text not null, "name" text not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "team" add constraint "team_organization_id_name_unique" unique ("organization_id", "name");`,
    );

    this.addSql(
      `create table "team_member" ("team_id" text not null, "user_id" text not null, "organization_id" text not null, primary key ("team_id", "user_id"));`,
    );
    this.addSql(`create index "team_member_user_id_index" on "team_member" ("user_id");`);

    this.addSql(
      `create table "ticket" ("id" text not null, "organization_id" text not null, "number" int not null, "title" text not null, "description" text null, "status" text not null, "hold_reason" text null, "priority" text not null, "priority_rank" smallint generated always as (case "priority" when 'critical' then 4 when 'high' then 3 when 'medium' then 2 else 1 end) stored not null, "impact" text null, "urgency" text null, "type" text not null, "category" text null, "subcategory" text null, "tags" text[] not null default '{}', "custom_fields" jsonb not null default '{}', "requester_id" text not null, "assignee_id" text null, "team_id" text null, "source" text not null, "resolution" text null, "external_refs" text[] not null default '{}', "resolution_due_at" timestamptz(3) null, "search_text" tsvector generated always as (to_tsvector('simple'::regconfig, "title" || ' ' || coalesce("description", ''))) stored not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "resolved_at" timestamptz(3) null, "closed_at" timestamptz(3) null, "version" int not null default 1, primary key ("id"));`,
    );
    this.addSql(`create index "ticket_search_text_index" on "ticket" using gin ("search_text");`);
    this.addSql(`create index "ticket_tags_index" on "ticket" using gin ("tags");`);
    this.addSql(
      `create index "ticket_organization_id_priority_created_at_id_index" on "ticket" ("organization_id", "priority", "created_at", "id");`,
    );
    this.addSql(
      `create index "ticket_organization_id_type_created_at_id_index" on "ticket" ("organization_id", "type", "created_at", "id");`,
    );
    this.addSql(
      `create index "ticket_organization_id_category_created_at_id_index" on "ticket" ("organization_id", "category", "created_at", "id");`,
    );
    this.addSql(
      `create index "ticket_organization_id_team_id_created_at_id_index" on "ticket" ("organization_id", "team_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "ticket_organization_id_assignee_id_created_at_id_index" on "ticket" ("organization_id", "assignee_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "ticket_organization_id_requester_id_created_at_id_index" on "ticket" ("organization_id", "requester_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "ticket_organization_id_status_created_at_id_index" on "ticket" ("organization_id", "status", "created_at", "id");`,
    );
    this.addSql(
      `create index "ticket_organization_id_resolution_due_at_id_index" on "ticket" ("organization_id", "resolution_due_at", "id");`,
    );
    this.addSql(
      `create index "ticket_organization_id_title_id_index" on "ticket" ("organization_id", "title", "id");`,
    );
    this.addSql(
      `create index "ticket_organization_id_priority_rank_id_index" on "ticket" ("organization_id", "priority_rank", "id");`,
    );
    this.addSql(
      `create index "ticket_organization_id_updated_at_id_index" on "ticket" ("organization_id", "updated_at", "id");`,
    );
    this.addSql(
      `create index "ticket_organization_id_created_at_id_index" on "ticket" ("organization_id", "created_at", "id");`,
    );
    this.addSql(
      `alter table "ticket" add constraint "ticket_organization_id_number_unique" unique ("organization_id", "number");`,
    );

    this.addSql(
      `create table "ticket_counter" ("organization_id" text not null, "last_number" int not null, primary key ("organization_id"));`,
    );

    this.addSql(
      `create table "ticket_total" ("organization_id" text not null, "status" text not null, "total" int not null, primary key ("organization_id", "status"));`,
    );

    this.addSql(
      `create table "user" ("id" text not null, "organization_id" text not null, "email" text not null, "name" text not null, "role" text not null, "password_hash" text not null, "active" boolean not null default true, "platform_roles" text[] not null default '{}', "default_workspace_id" uuid null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "user_organization_id_index" on "user" ("organization_id");`);
    this.addSql(`alter table "user" add constraint "user_email_unique" unique ("email");`);

    this.addSql(
      `create table "workspace" ("id" uuid not null, "organization_id" text not null, "slug" text not null, "name" text not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "workspace" add constraint "workspace_organization_id_slug_unique" unique ("organization_id", "slug");`,
    );

    this.addSql(`create or replace function "ticket_ticket_total_fn"() returns trigger as $$ begin INSERT INTO ticket_total (organization_id, status, total)
  SELECT organization_id, status, sum(change)::int
  FROM (
    SELECT NEW.organization_id, NEW.status, 1 WHERE TG_OP IN ('INSERT', 'UPDATE')
    UNION ALL
    SELECT OLD.organization_id, OLD.status, -1 WHERE TG_OP IN ('UPDATE', 'DELETE')
  ) AS moved (organization_id, status, change)
  GROUP BY organization_id, status
  HAVING sum(change) <> 0
  ORDER BY organization_id, status
  ON CONFLICT (organization_id, status) DO UPDATE SET total = ticket_total.total + EXCLUDED.total;   RETURN NULL; end; $$ language plpgsql;`);
    this.addSql(
      `create trigger "ticket_total" AFTER INSERT OR UPDATE OR DELETE on "ticket" for each ROW execute function "ticket_ticket_total_fn"();`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "connection" cascade;`);
    this.addSql(`drop table if exists "event" cascade;`);
    this.addSql(`drop table if exists "oidc_artifact" cascade;`);
    this.addSql(`drop table if exists "oidc_client" cascade;`);
    this.addSql(`drop table if exists "organization" cascade;`);
    this.addSql(`drop table if exists "pipeline" cascade;`);
    this.addSql(`drop table if exists "pipeline_revision" cascade;`);
    this.addSql(`drop table if exists "refresh_token" cascade;`);
    this.addSql(`drop table if exists "run" cascade;`);
    this.addSql(`drop table if exists "run_message" cascade;`);
    this.addSql(`drop table if exists "run_task" cascade;`);
    this.addSql(`drop table if exists "session" cascade;`);
    this.addSql(`drop table if exists "signing_key" cascade;`);
    this.addSql(`drop table if exists "team" cascade;`);
    this.addSql(`drop table if exists "team_member" cascade;`);
    this.addSql(`drop trigger if exists "ticket_total" on "ticket";`);
    this.addSql(`drop function if exists "ticket_ticket_total_fn"();`);
    this.addSql(`drop table if exists "ticket" cascade;`);
    this.addSql(`drop table if exists "ticket_counter" cascade;`);
    this.addSql(`drop table if exists "ticket_total" cascade;`);
    this.addSql(`drop table if exists "user" cascade;`);
    this.addSql(`drop table if exists "workspace" cascade;`);
  }
}
