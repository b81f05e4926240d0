import { Migration } from '@mikro-orm/migrations';

export class Migration20261120230157_ticket_order_indexes extends Migration {
  override name = 'Migration20261120230157_ticket_order_indexes';

  override up(): void | Promise<void> {
    this.addSql(`drop index "ticket_organization_id_resolution_due_at_id_index";`);
    this.addSql(
      `create index "ticket_due_desc" on "ticket" ("organization_id", (coalesce("resolution_due_at", '-infinity'::timestamptz)), "id");`,
    );
    this.addSql(
      `create index "ticket_due_asc" on "ticket" ("organization_id", (coalesce("resolution_due_at", 'infinity'::timestamptz)), "id");`,
    );
    this.addSql(
      `create index "ticket_organization_id_status_id_index" on "ticket" ("organization_id", "status", "id");`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "ticket_due_desc";`);
    this.addSql(`drop index "ticket_due_asc";`);
    this.addSql(`drop index "ticket_organization_id_status_id_index";`);
    this.addSql(
      `create index "ticket_organization_id_resolution_due_at_id_index" on "ticket" ("organization_id", "resolution_due_at", "id");`,
    );
  }
}
