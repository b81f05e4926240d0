import type { GraphTask, MysqlConnectionTarget } from '../../../src/engines/engine.js';
import { type MariaDbFixture, startMariaDb } from '../../support/mariadb.js';
import { JdbcFixture } from './jdbc-fixture.js';

/** A server with orders and customers, and graphs on it that write to the database `mart`. */
export class MysqlShop {
  readonly jdbc = new JdbcFixture('mysql', 'mart.t', () => this.connection);
  connection: MysqlConnectionTarget;

  private constructor(readonly server: MariaDbFixture) {
    this.connection = server.target;
  }

  static async open(): Promise<MysqlShop> {
    return new MysqlShop(await startMariaDb());
  }

  /** As it is before a run. */
  async reset(): Promise<void> {
    this.connection = this.server.target;
    this.jdbc.nextRun();
    await this.server.run(
      'DROP DATABASE IF EXISTS mart',
      'CREATE DATABASE mart',
      'DROP TABLE IF EXISTS orders, customers, numbers',
      'CREATE TABLE orders (id int PRIMARY KEY, customer int, amount decimal(10,2), at date)',
      'CREATE TABLE customers (id int PRIMARY KEY, name varchar(20), at date)',
      "INSERT INTO orders VALUES (1, 1, 10.50, '2026-01-01'), (2, 1, 4, '2026-01-02'), (3, 2, 7, NULL), (4, 9, 1, '2026-01-04')",
      "INSERT INTO customers VALUES (1, 'Ada', '2020-01-01'), (2, 'Żaneta', '2021-01-01'), (5, 'Eve', NULL)",
    );
  }

  /** Has the rows OLD. */
  async makeTable(more = ', PRIMARY KEY (id)'): Promise<void> {
    await this.server.run(
      `CREATE TABLE mart.t (id int NOT NULL, name varchar(20)${more}) ENGINE=InnoDB`,
      "INSERT INTO mart.t VALUES (1, 'old'), (7, 'kept')",
    );
  }

  rows(table = 'mart.t', order = '1'): Promise<Record<string, unknown>[]> {
    return this.server.rows(`SELECT * FROM ${table} ORDER BY ${order}`);
  }

  /** Ends in a task `named`, with the rows NAMED. */
  named(): GraphTask[] {
    const sql = 'SELECT id, name FROM customers WHERE id < 5';
    return [this.jdbc.source('customers'), this.jdbc.transform('named', { type: 'sql', sql }, ['customers'])];
  }

  async close(): Promise<void> {
    await this.server.close();
  }
}

export const OLD = [
  { id: 1, name: 'old' },
  { id: 7, name: 'kept' },
];
export const NAMED = [
  { id: 1, name: 'Ada' },
  { id: 2, name: 'Żaneta' },
];
