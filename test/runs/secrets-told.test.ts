import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { hasMariaDb, type MariaDbFixture, startMariaDb } from '../support/mariadb.js';
import { type S3Fixture, startS3 } from '../support/s3.js';
import { openRunHouse, type RunHouse } from './run-house.js';

/** Has another form in a URL. */
const SECRET = 'wJalr/XUtn+FEMI=7c1';

let house: RunHouse;
let s3: S3Fixture;

beforeAll(async () => {
  s3 = await startS3();
  house = await openRunHouse({ CONNECTION_ALLOWED_HOSTS: new URL(`${s3.target.endpoint}`).host });
  await house.warehouse.query('CREATE TABLE public.copied (x int)');
});

afterAll(async () => {
  await house.close();
  await s3.close();
});

const definition = (source: string, target: string) => `
apiVersion: v1
name: secretive
engine: BATCH
source: { id: s, ${source} }
target: { id: t, ${target}, mode: APPEND }
`;
const INLINE = 'type: inline, rows: [{ x: 1 }]';
const WAREHOUSE = 'type: postgres, connection: warehouse, table: public.copied';

async function connect(body: object): Promise<string> {
  const { status, body: created } = await house.engineer('POST', '/api/v1/connections', body);
  expect([status, created.error]).toEqual([201, undefined]);
  expectWithout(SECRET, created);
  return created.id;
}

/** All that is told of a run by every way there is, and all that is kept of it. */
async function toldOf(runId: string) {
  const watched = house.watch(runId, { after: 0 });
  await watched.closed;
  const read = async (path: string) => (await house.engineer('GET', `/api/v1/${path}`)).body;
  const lineage = () => read(`lineage/events?runId=${runId}`);
  const isOver = ({ eventType }: { eventType: string }) => ['COMPLETE', 'FAIL'].includes(eventType);
  await eventually(async () => (await lineage()).some(isOver));
  const kept = ['run', 'run_task', 'run_message', 'lineage_event'].map((table) =>
    house.app.services.orm.em
      .fork()
      .execute(
        `SELECT to_jsonb(kept) FROM "${table}" AS kept WHERE "${table === 'run' ? 'id' : 'run_id'}" = ?`,
        [runId],
      ),
  );
  return {
    run: await read(`runs/${runId}`),
    messages: watched.messages,
    logs: await read(`runs/${runId}/logs?level=DEBUG&limit=1000`),
    lineage: await lineage(),
    kept: await Promise.all(kept),
  };
}

function expectWithout(secret: string, told: unknown): void {
  const text = JSON.stringify(told);
  for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')])
    expect(text).not.toContain(form);
}

/** Runs what must fail at the connection, and looks through everything for the secret. */
async function failedWithout(secret: string, source: string, target: string): Promise<string> {
  const told = await toldOf(await house.start(await house.createPipeline(definition(source, target))));
  expect(told.run.overallStatus).toBe('FAILED');
  const { error } = told.run;
  const reason = error.slice(error.indexOf(': ') + 2);
  // What tells the reason tells it in these four places: nothing was looked for in vain.
  for (const part of [told.messages, told.logs, told.lineage, told.kept])
    expect(JSON.stringify(part)).toContain(JSON.stringify(reason).slice(1, -1));
  expectWithout(secret, told);
  return error;
}

(hasMariaDb() ? describe : describe.skip)('the password of a MySQL connection', () => {
  let maria: MariaDbFixture;
  let config: object;

  beforeAll(async () => {
    maria = await startMariaDb();
    const { host, port, database, user: username, password } = maria.target;
    config = { host, port, database };
    await connect({ name: 'shop', type: 'mysql', config, credentials: { username, password } });
    const signal = `SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the password is ${password}.'`;
    await maria.run(
      'CREATE TABLE sale (x INT)',
      `CREATE FUNCTION tell() RETURNS INT DETERMINISTIC BEGIN ${signal}; RETURN 1; END`,
      `CREATE TRIGGER tell BEFORE INSERT ON sale FOR EACH ROW ${signal}`,
    );
  });
  afterAll(() => maria.close());

  it('is not told by a run or by a test when it is wrong', async () => {
    const credentials = { username: maria.target.user, password: SECRET };
    const id = await connect({ name: 'wrong-shop', type: 'mysql', config, credentials });
    const wrong = 'type: mysql, connection: wrong-shop, table: sale';
    expect(await failedWithout(SECRET, wrong, WAREHOUSE)).toMatch(/^s: .*Access denied/);
    expect(await failedWithout(SECRET, INLINE, wrong)).toMatch(/^t: .*Access denied/);
    for (const answer of [
      await house.engineer('POST', `/api/v1/connections/${id}/test`),
      await house.engineer('GET', `/api/v1/connections/${id}/schema`),
    ]) {
      expect(JSON.stringify(answer.body)).toContain('Access denied');
      expectWithout(SECRET, answer.body);
    }
  });

  it('is not told by a run when the server repeats it', async () => {
    const { password = '' } = maria.target;
    const telling = 'type: mysql, connection: shop, query: "SELECT tell() AS x"';
    expect(await failedWithout(password, telling, WAREHOUSE)).toMatch('the password is [redacted].');
    const told = 'type: mysql, connection: shop, table: sale';
    expect(await failedWithout(password, INLINE, told)).toMatch('the password is [redacted].');
  });
});

describe('the secret of an S3 connection', () => {
  it('is not told by a run or by a test, also when the server repeats it', async () => {
    const { bucket, endpoint, region, forcePathStyle, accessKeyId } = s3.target;
    const id = await connect({
      name: 'lake',
      type: 'file',
      config: { storage: 's3', bucket, endpoint, region, forcePathStyle },
      credentials: { accessKeyId, secretAccessKey: SECRET },
    });
    s3.fail.current = (_, response) => {
      const message = `signed by ${SECRET} (${encodeURIComponent(SECRET)}).`;
      response
        .writeHead(403, { 'content-type': 'application/xml' })
        .end(`<Error><Code>SignatureDoesNotMatch</Code><Message>${message}</Message></Error>`);
      return true;
    };
    const lake = 'type: file, connection: lake, format: csv, path: in';
    expect(await failedWithout(SECRET, lake, WAREHOUSE)).toMatch(/^s: .*signed by \[redacted\]/);
    expect(await failedWithout(SECRET, INLINE, lake)).toMatch(/^t: .*signed by \[redacted\]/);
    for (const answer of [
      await house.engineer('POST', `/api/v1/connections/${id}/test`),
      await house.engineer('GET', `/api/v1/connections/${id}/schema`),
    ]) {
      expect(JSON.stringify(answer.body)).toContain('signed by [redacted] ([redacted]).');
      expectWithout(SECRET, answer.body);
    }
  });
});
