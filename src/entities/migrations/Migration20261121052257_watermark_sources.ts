import { Migration } from '@mikro-orm/migrations';

export class Migration20261121052257_watermark_sources extends Migration {
  override name = 'Migration20261121052257_watermark_sources';

  override up(): void | Promise<void> {
    this.addSql(`alter table "source_watermark" add "source" text not null default '';`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "source_watermark" drop column "source";`);
  }
}
