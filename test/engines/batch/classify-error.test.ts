import { constants } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { toEngineError } from '../../../src/engines/batch/classify-error.js';

const failure = (message: string, more: object) => Object.assign(new Error(message), more);

/** What databases, the network and the disk throw, with the kind it must become and whether a second try may help. */
const FAILURES: [name: string, error: unknown, kind: string, transient: boolean][] = [
  ['a full disk', failure('write', { code: 'ENOSPC', errno: -constants.errno.ENOSPC }), 'DISK_FULL', false],
  ['a spent quota', failure('write', { code: 'EDQUOT' }), 'DISK_FULL', false],
  [
    'a full disk under DuckDB',
    new Error('IO Error: Could not write: No space left on device'),
    'DISK_FULL',
    false,
  ],
  [
    'a full disk of PostgreSQL',
    failure('no space', { code: '53100', severity: 'ERROR' }),
    'DISK_FULL',
    false,
  ],
  [
    'a full table of MySQL',
    failure('full', { errno: 1114, sqlState: 'HY000', code: 'ER_RECORD_FILE_FULL' }),
    'DISK_FULL',
    false,
  ],
  [
    'a deadlock in MySQL',
    failure('deadlock', { errno: 1213, sqlState: '40001', code: 'ER_LOCK_DEADLOCK' }),
    'TARGET',
    true,
  ],
  [
    'a lock in MySQL',
    failure('lock', { errno: 1205, sqlState: 'HY000', code: 'ER_LOCK_WAIT_TIMEOUT' }),
    'TARGET',
    true,
  ],
  [
    'a MySQL that is full of clients',
    failure('many', { errno: 1040, sqlState: '08004', code: 'ER_CON_COUNT_ERROR' }),
    'CONNECTION',
    true,
  ],
  [
    'a MySQL that shuts down',
    failure('bye', { errno: 1053, sqlState: '08S01', code: 'ER_SERVER_SHUTDOWN' }),
    'CONNECTION',
    true,
  ],
  [
    'a wrong password',
    failure('denied', { errno: 1045, sqlState: '28000', code: 'ER_ACCESS_DENIED_ERROR' }),
    'CONNECTION',
    false,
  ],
  [
    'a value that does not fit',
    failure('data', { errno: 1366, sqlState: 'HY000', code: 'ER_X' }),
    'TARGET',
    false,
  ],
  [
    'a statement that took too long',
    failure('slow', { errno: 3024, sqlState: 'HY000', code: 'ER_X' }),
    'TIMEOUT',
    false,
  ],
  ['a lost MySQL', failure('lost', { code: 'PROTOCOL_CONNECTION_LOST', fatal: true }), 'CONNECTION', true],
  [
    'a socket closed by an HTTP server',
    failure('other side closed', { code: 'UND_ERR_SOCKET' }),
    'CONNECTION',
    true,
  ],
  ['a reset connection', failure('read', { code: 'ECONNRESET' }), 'CONNECTION', true],
  ['a deadlock in PostgreSQL', failure('deadlock', { code: '40P01', severity: 'ERROR' }), 'TARGET', true],
  ['anything else', 'thrown text', 'TARGET', false],
];

describe('an error of a task', () => {
  it.each(FAILURES)('that is %s is classified', (_, error, kind, transient) => {
    expect(toEngineError(error, 'TARGET')).toMatchObject({ name: 'EngineError', kind, transient });
  });
});
