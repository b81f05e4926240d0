import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { destination, type Logger } from 'pino';
import { createLogger } from '../../src/logger.js';

/** Where the global set-up told servers to log; what is there is searched when the whole run is over. */
function fileOfRun(name: string): string {
  const directory = process.env['TEST_LOG_DIR'];
  if (directory === undefined)
    throw new Error('Tests run through jest, whose global set-up makes their log.');
  return path.join(directory, name);
}

const ownName = `${process.pid}-${randomBytes(4).toString('hex')}`;
let log: Logger | undefined;

/** The production logger at the finest level, into the log of the whole test run. */
export function runLog(): Logger {
  log ??= createLogger({ logLevel: 'trace' }, destination({ dest: fileOfRun(`${ownName}.log`), sync: true }));
  return log;
}

/** For what a process of its own wrote. */
export function addToRunLog(line: string): void {
  appendFileSync(fileOfRun(`${ownName}-processes.log`), `${line}\n`);
}

const SECRET_FIELDS = new Set([
  'accessToken',
  'access_token',
  'backupCodes',
  'clientSecret',
  'current',
  'id_token',
  'key',
  'mfaToken',
  'password',
  'refreshToken',
  'refresh_token',
  'secret',
  'secretAccessKey',
  'sessionToken',
  'token',
]);
/** Shorter ones are found in innocent words. */
const MIN_LENGTH = 8;
const known = new Set<string>();

/** Writes down what a request or an answer holds under a secret's name, to be looked for in the logs. */
export function rememberSecrets(body: unknown): void {
  const fresh = [...secretsOf(body, false)].filter((secret) => !known.has(secret));
  if (fresh.length === 0) return;
  for (const secret of fresh) known.add(secret);
  const lines = fresh.map((secret) => `${JSON.stringify(secret)}\n`);
  appendFileSync(fileOfRun(`${ownName}.secrets`), lines.join(''));
}

function* secretsOf(value: unknown, isSecret: boolean): Generator<string> {
  if (typeof value === 'string') {
    if (isSecret && value.length >= MIN_LENGTH) yield value;
  } else if (Array.isArray(value)) {
    for (const item of value) yield* secretsOf(item, isSecret);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) yield* secretsOf(item, SECRET_FIELDS.has(name));
  }
}
