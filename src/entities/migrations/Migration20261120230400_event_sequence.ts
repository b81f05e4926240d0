import { Migration } from '@mikro-orm/migrations';

/** Written by hand: a sequence that no column takes its default from is unknown to the entities. */
export class Migration20261120230400_event_sequence extends Migration {
  override name = 'Migration20261120230400_event_sequence';

  override up(): void {
    this.addSql(`create sequence "event_seq" as bigint;`);
  }

  override down(): void {
    this.addSql(`drop sequence if exists "event_seq";`);
  }
}
