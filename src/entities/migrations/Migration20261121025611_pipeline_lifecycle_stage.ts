import { Migration } from '@mikro-orm/migrations';

export class Migration20261121025611_pipeline_lifecycle_stage extends Migration {
  override name = 'Migration20261121025611_pipeline_lifecycle_stage';

  override up(): void | Promise<void> {
    this.addSql(`alter table "pipeline" add "lifecycle_stage" text not null default 'DRAFT';`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "pipeline" drop column "lifecycle_stage";`);
  }
}
