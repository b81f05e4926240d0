import { Migration } from '@mikro-orm/migrations';

export class Migration20261120233401_ticket_total_lock extends Migration {
  override name = 'Migration20261120233401_ticket_total_lock';

  override up(): void | Promise<void> {
    this.addSql(`drop trigger if exists "ticket_total" on "ticket";`);
    this.addSql(`drop function if exists "ticket_ticket_total_fn"();`);
    this.addSql(`create or replace function "ticket_ticket_total_fn"() returns trigger as $$ begin IF TG_OP = 'UPDATE' AND (NEW.organization_id, NEW.status) = (OLD.organization_id, OLD.status) THEN
    RETURN NULL;   END IF;   PERFORM pg_advisory_xact_lock(hashtext('ticket_total'), hashtext(id))
  FROM (SELECT NEW.organization_id UNION SELECT OLD.organization_id ORDER BY 1) AS tenant (id);   INSERT INTO ticket_total (organization_id, status, total)
  SELECT organization_id, status, sum(change)::int
  FROM (
    SELECT NEW.organization_id, NEW.status, 1 WHERE TG_OP IN ('INSERT', 'UPDATE')
    UNION ALL
    SELECT OLD.organization_id, OLD.status, -1 WHERE TG_OP IN ('UPDATE', 'DELETE')
  ) AS moved (organization_id, status, change)
  GROUP BY organization_id, status
  ON CONFLICT (organization_id, status) DO UPDATE SET total = ticket_total.total + EXCLUDED.total;   RETURN NULL; end; $$ language plpgsql;`);
    this.addSql(
      `create trigger "ticket_total" AFTER INSERT OR UPDATE OR DELETE on "ticket" for each ROW execute function "ticket_ticket_total_fn"();`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop trigger if exists "ticket_total" on "ticket";`);
    this.addSql(`drop function if exists "ticket_ticket_total_fn"();`);
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
}
