import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { hasMariaDb, type MariaDbFixture, startMariaDb } from '../support/mariadb.js';
import { type Call, caller } from '../support/rest.js';
import { type S3Fixture, startS3 } from '../support/s3.js';

let app: TestApp;
let engineer: Call;
let s3: S3Fixture;

beforeAll(async () => {
  s3 = await startS3();
  const { host } = new URL(`${s3.target.endpoint}`);
  app = await startTestApp({ CONNECTION_ALLOWED_HOSTS: host });
  engineer = caller(app.url, await app.platform('demo-engineer'));
});

afterAll(async () => {
  await app?.close();
  await s3?.close();
});

async function create(body: object): Promise<string> {
  const answer = await engineer('POST', '/api/v1/connections', body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body.id;
}
const test = async (id: string) => (await engineer('POST', `/api/v1/connections/${id}/test`)).body;

(hasMariaDb() ? describe : describe.skip)('a connection to MariaDB', () => {
  let mariadb: MariaDbFixture;
  beforeAll(async () => {
    mariadb = await startMariaDb();
  });
  afterAll(() => mariadb.close());

  it('is tried out and shows its tables; a wrong password is said without the password', async () => {
    await mariadb.run('CREATE TABLE sale (id INT PRIMARY KEY, total DECIMAL(8,2))');
    const { host, port, database, user: username, password } = mariadb.target;
    const credentials = { username, password };
    const id = await create({ name: 'maria', type: 'mysql', config: { host, port, database }, credentials });
    expect(await test(id)).toMatchObject({ success: true, message: expect.stringContaining('MariaDB') });
    const { body } = await engineer('GET', `/api/v1/connections/${id}/schema`);
    expect(body).toEqual({
      tables: [
        {
          schema: 'shop',
          name: 'sale',
          columns: [
            { name: 'id', type: 'int(11)', nullable: false, primaryKey: true },
            { name: 'total', type: 'decimal(8,2)', nullable: true, primaryKey: false },
          ],
        },
      ],
      truncated: false,
    });
    const wrong = { username, password: 'quite-wrong-7c1' };
    await engineer('PUT', `/api/v1/connections/${id}`, { credentials: wrong });
    const refused = await test(id);
    expect(refused).toMatchObject({ success: false, message: expect.stringContaining('Access denied') });
    expect(JSON.stringify(refused)).not.toContain(wrong.password);
  });
});

describe('a connection to S3', () => {
  it('is tried out and shows its files with their columns', async () => {
    const { bucket, endpoint, region, forcePathStyle, accessKeyId, secretAccessKey } = s3.target;
    s3.objects.set('in/a.csv', Buffer.from('n,word\n1,one\n'));
    const config = { storage: 's3', bucket, prefix: 'in', endpoint, region, forcePathStyle };
    const credentials = { accessKeyId, secretAccessKey };
    const id = await create({ name: 'lake', type: 'file', config, credentials });
    expect(await test(id)).toMatchObject({ success: true });
    const { body } = await engineer('GET', `/api/v1/connections/${id}/schema`);
    expect(body.tables).toEqual([
      {
        schema: '',
        name: 'a.csv',
        columns: [
          { name: 'n', type: 'BIGINT', nullable: true, primaryKey: false },
          { name: 'word', type: 'VARCHAR', nullable: true, primaryKey: false },
        ],
      },
    ]);
  });
});
