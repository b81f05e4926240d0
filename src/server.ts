import 'reflect-metadata';
import { startApp } from './app.js';
import { type Config, parseConfig } from './config.js';
import { createLogger } from './logger.js';

function configOrExit(): Config {
  try {
    return parseConfig(process.env, process.cwd());
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(78);
  }
}

const config = configOrExit();
const log = createLogger(config);
process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
try {
  const { shutdown } = await startApp({ config, log });
  shutdown.listen();
} catch (error) {
  log.fatal({ err: error }, 'cannot start');
  process.stderr.write(`Opsgraph cannot start: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
