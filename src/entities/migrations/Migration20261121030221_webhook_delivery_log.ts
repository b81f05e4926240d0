import { Migration } from '@mikro-orm/migrations';

export class Migration20261121030221_webhook_delivery_log extends Migration {
  override name = 'Migration20261121030221_webhook_delivery_log';

  override up(): void | Promise<void> {
    this.addSql(`create index "webhook_delivery_age" on "webhook_delivery" using brin ("created_at");`);
    this.addSql(
      `create index "webhook_delivery_unsettled" on "webhook_delivery" ("webhook_id", "status", "created_at", "id") where "status" <> 'delivered';`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "webhook_delivery_age";`);
    this.addSql(`drop index "webhook_delivery_unsettled";`);
  }
}
