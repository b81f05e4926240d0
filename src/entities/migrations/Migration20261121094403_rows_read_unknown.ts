import { Migration } from '@mikro-orm/migrations';

export class Migration20261121094403_rows_read_unknown extends Migration {
  override name = 'Migration20261121094403_rows_read_unknown';

  override up(): void | Promise<void> {
    this.addSql(`alter table "run" alter column "rows_read" drop not null;`);
    // Until now a run that was pushed down said 0.
    this.addSql(
      `update "run" set "rows_read" = null where "engine" = 'JDBC' and "state" = 'SUCCESS' and "rows_read" = 0;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`update "run" set "rows_read" = 0 where "rows_read" is null;`);
    this.addSql(`alter table "run" alter column "rows_read" set not null;`);
  }
}
