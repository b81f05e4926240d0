import { Migration } from '@mikro-orm/migrations';

export class Migration20261121055651_task_progress extends Migration {
  override name = 'Migration20261121055651_task_progress';

  override up(): void | Promise<void> {
    this.addSql(`alter table "run_task" add "percent" smallint null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "run_task" drop column "percent";`);
  }
}
