/**
 * The built server in a process of its own, as `npm start` runs it, its log lines written and thrown away. Sends its
 * address to the parent.
 */
import 'reflect-metadata';
import { pino } from 'pino';
import { startApp } from '../../dist/app.js';
import { parseConfig } from '../../dist/config.js';
import { createLogger } from '../../dist/logger.js';

const config = parseConfig(process.env, process.cwd());
const log = createLogger(config, pino.destination({ dest: '/dev/null', sync: false }));
const { url, shutdown } = await startApp({ config, log });
shutdown.listen();
process.send?.(url);
