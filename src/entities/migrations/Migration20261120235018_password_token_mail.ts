import { Migration } from '@mikro-orm/migrations';

export class Migration20261120235018_password_token_mail extends Migration {
  override name = 'Migration20261120235018_password_token_mail';

  override up(): void | Promise<void> {
    this.addSql(`alter table "password_token" add "mail_id" text not null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "password_token" drop column "mail_id";`);
  }
}
