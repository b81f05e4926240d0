import { Migration } from '@mikro-orm/migrations';

export class Migration20261121060030_run_retention extends Migration {
  override name = 'Migration20261121060030_run_retention';

  override up(): void | Promise<void> {
    this.addSql(`create index "run_ended" on "run" ("finished_at") where "finished_at" is not null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "run_ended";`);
  }
}
