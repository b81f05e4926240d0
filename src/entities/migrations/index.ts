import { Migration20261120230056_initial } from './Migration20261120230056_initial.js';

/** Written by scripts/create-migration.ts. The names are what the database remembers: never rename one. */
export const migrations = [
  { name: 'Migration20261120230056_initial', class: Migration20261120230056_initial },
];
