import { Migration } from '@mikro-orm/migrations';

export class Migration20261121000010_row_security extends Migration {
  override name = 'Migration20261121000010_row_security';

  override up(): void | Promise<void> {
    this.addSql(`alter table "api_key" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "api_key" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(`create policy "system" on "api_key" to "opsgraph_system" using (true) with check (true);`);

    this.addSql(`alter table "audit_chain" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "audit_chain" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "audit_chain" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "audit_entry" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "audit_entry" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "audit_entry" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "backup_code" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "backup_code" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "backup_code" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "connection" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "connection" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "connection" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "event" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "event" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(`create policy "system" on "event" to "opsgraph_system" using (true) with check (true);`);

    this.addSql(`alter table "mfa_challenge" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "mfa_challenge" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "mfa_challenge" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "mfa_setup" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "mfa_setup" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(`create policy "system" on "mfa_setup" to "opsgraph_system" using (true) with check (true);`);

    this.addSql(`alter table "organization" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "organization" to "opsgraph_app" using (id = (select current_setting('app.organization', true))) with check (id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "organization" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "password_token" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "password_token" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "password_token" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "pipeline" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "pipeline" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(`create policy "system" on "pipeline" to "opsgraph_system" using (true) with check (true);`);

    this.addSql(`alter table "pipeline_revision" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "pipeline_revision" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "pipeline_revision" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "refresh_token" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "refresh_token" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "refresh_token" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "revoked_token" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "revoked_token" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "revoked_token" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "run" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "run" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(`create policy "system" on "run" to "opsgraph_system" using (true) with check (true);`);

    this.addSql(`alter table "run_message" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "run_message" to "opsgraph_app" using (exists (select 1 from run owner where owner.id = run_message.run_id)) with check (exists (select 1 from run owner where owner.id = run_message.run_id));`,
    );
    this.addSql(
      `create policy "system" on "run_message" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "run_task" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "run_task" to "opsgraph_app" using (exists (select 1 from run owner where owner.id = run_task.run_id)) with check (exists (select 1 from run owner where owner.id = run_task.run_id));`,
    );
    this.addSql(`create policy "system" on "run_task" to "opsgraph_system" using (true) with check (true);`);

    this.addSql(`alter table "session" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "session" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(`create policy "system" on "session" to "opsgraph_system" using (true) with check (true);`);

    this.addSql(`alter table "sso_identity" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "sso_identity" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "sso_identity" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "sso_login" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "sso_login" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(`create policy "system" on "sso_login" to "opsgraph_system" using (true) with check (true);`);

    this.addSql(`alter table "sso_provider" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "sso_provider" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "sso_provider" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "team" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "team" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(`create policy "system" on "team" to "opsgraph_system" using (true) with check (true);`);

    this.addSql(`alter table "team_member" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "team_member" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "team_member" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "ticket" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "ticket" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(`create policy "system" on "ticket" to "opsgraph_system" using (true) with check (true);`);

    this.addSql(`alter table "ticket_counter" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "ticket_counter" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "ticket_counter" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "ticket_total" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "ticket_total" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "ticket_total" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "totp_factor" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "totp_factor" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "totp_factor" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "user" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "user" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(`create policy "system" on "user" to "opsgraph_system" using (true) with check (true);`);

    this.addSql(`alter table "user_identity" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "user_identity" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "user_identity" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "webauthn_credential" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "webauthn_credential" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(
      `create policy "system" on "webauthn_credential" to "opsgraph_system" using (true) with check (true);`,
    );

    this.addSql(`alter table "workspace" enable row level security;`);
    this.addSql(
      `create policy "tenant" on "workspace" to "opsgraph_app" using (organization_id = (select current_setting('app.organization', true))) with check (organization_id = (select current_setting('app.organization', true)));`,
    );
    this.addSql(`create policy "system" on "workspace" to "opsgraph_system" using (true) with check (true);`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop policy "tenant" on "api_key";`);
    this.addSql(`drop policy "system" on "api_key";`);

    this.addSql(`drop policy "tenant" on "audit_chain";`);
    this.addSql(`drop policy "system" on "audit_chain";`);

    this.addSql(`drop policy "tenant" on "audit_entry";`);
    this.addSql(`drop policy "system" on "audit_entry";`);

    this.addSql(`drop policy "tenant" on "backup_code";`);
    this.addSql(`drop policy "system" on "backup_code";`);

    this.addSql(`drop policy "tenant" on "connection";`);
    this.addSql(`drop policy "system" on "connection";`);

    this.addSql(`drop policy "tenant" on "event";`);
    this.addSql(`drop policy "system" on "event";`);

    this.addSql(`drop policy "tenant" on "mfa_challenge";`);
    this.addSql(`drop policy "system" on "mfa_challenge";`);

    this.addSql(`drop policy "tenant" on "mfa_setup";`);
    this.addSql(`drop policy "system" on "mfa_setup";`);

    this.addSql(`drop policy "tenant" on "organization";`);
    this.addSql(`drop policy "system" on "organization";`);

    this.addSql(`drop policy "tenant" on "password_token";`);
    this.addSql(`drop policy "system" on "password_token";`);

    this.addSql(`drop policy "tenant" on "pipeline";`);
    this.addSql(`drop policy "system" on "pipeline";`);

    this.addSql(`drop policy "tenant" on "pipeline_revision";`);
    this.addSql(`drop policy "system" on "pipeline_revision";`);

    this.addSql(`drop policy "tenant" on "refresh_token";`);
    this.addSql(`drop policy "system" on "refresh_token";`);

    this.addSql(`drop policy "tenant" on "revoked_token";`);
    this.addSql(`drop policy "system" on "revoked_token";`);

    this.addSql(`drop policy "tenant" on "run";`);
    this.addSql(`drop policy "system" on "run";`);

    this.addSql(`drop policy "tenant" on "run_message";`);
    this.addSql(`drop policy "system" on "run_message";`);

    this.addSql(`drop policy "tenant" on "run_task";`);
    this.addSql(`drop policy "system" on "run_task";`);

    this.addSql(`drop policy "tenant" on "session";`);
    this.addSql(`drop policy "system" on "session";`);

    this.addSql(`drop policy "tenant" on "sso_identity";`);
    this.addSql(`drop policy "system" on "sso_identity";`);

    this.addSql(`drop policy "tenant" on "sso_login";`);
    this.addSql(`drop policy "system" on "sso_login";`);

    this.addSql(`drop policy "tenant" on "sso_provider";`);
    this.addSql(`drop policy "system" on "sso_provider";`);

    this.addSql(`drop policy "tenant" on "team";`);
    this.addSql(`drop policy "system" on "team";`);

    this.addSql(`drop policy "tenant" on "team_member";`);
    this.addSql(`drop policy "system" on "team_member";`);

    this.addSql(`drop policy "tenant" on "ticket";`);
    this.addSql(`drop policy "system" on "ticket";`);

    this.addSql(`drop policy "tenant" on "ticket_counter";`);
    this.addSql(`drop policy "system" on "ticket_counter";`);

    this.addSql(`drop policy "tenant" on "ticket_total";`);
    this.addSql(`drop policy "system" on "ticket_total";`);

    this.addSql(`drop policy "tenant" on "totp_factor";`);
    this.addSql(`drop policy "system" on "totp_factor";`);

    this.addSql(`drop policy "tenant" on "user";`);
    this.addSql(`drop policy "system" on "user";`);

    this.addSql(`drop policy "tenant" on "user_identity";`);
    this.addSql(`drop policy "system" on "user_identity";`);

    this.addSql(`drop policy "tenant" on "webauthn_credential";`);
    this.addSql(`drop policy "system" on "webauthn_credential";`);

    this.addSql(`drop policy "tenant" on "workspace";`);
    this.addSql(`drop policy "system" on "workspace";`);

    this.addSql(`alter table "api_key" disable row level security;`);

    this.addSql(`alter table "audit_chain" disable row level security;`);

    this.addSql(`alter table "audit_entry" disable row level security;`);

    this.addSql(`alter table "backup_code" disable row level security;`);

    this.addSql(`alter table "connection" disable row level security;`);

    this.addSql(`alter table "event" disable row level security;`);

    this.addSql(`alter table "mfa_challenge" disable row level security;`);

    this.addSql(`alter table "mfa_setup" disable row level security;`);

    this.addSql(`alter table "organization" disable row level security;`);

    this.addSql(`alter table "password_token" disable row level security;`);

    this.addSql(`alter table "pipeline" disable row level security;`);

    this.addSql(`alter table "pipeline_revision" disable row level security;`);

    this.addSql(`alter table "refresh_token" disable row level security;`);

    this.addSql(`alter table "revoked_token" disable row level security;`);

    this.addSql(`alter table "run" disable row level security;`);

    this.addSql(`alter table "run_message" disable row level security;`);

    this.addSql(`alter table "run_task" disable row level security;`);

    this.addSql(`alter table "session" disable row level security;`);

    this.addSql(`alter table "sso_identity" disable row level security;`);

    this.addSql(`alter table "sso_login" disable row level security;`);

    this.addSql(`alter table "sso_provider" disable row level security;`);

    this.addSql(`alter table "team" disable row level security;`);

    this.addSql(`alter table "team_member" disable row level security;`);

    this.addSql(`alter table "ticket" disable row level security;`);

    this.addSql(`alter table "ticket_counter" disable row level security;`);

    this.addSql(`alter table "ticket_total" disable row level security;`);

    this.addSql(`alter table "totp_factor" disable row level security;`);

    this.addSql(`alter table "user" disable row level security;`);

    this.addSql(`alter table "user_identity" disable row level security;`);

    this.addSql(`alter table "webauthn_credential" disable row level security;`);

    this.addSql(`alter table "workspace" disable row level security;`);
  }
}
