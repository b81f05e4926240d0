// A server that shutdown.test.ts starts and signals. Node strips the types of shutdown.ts, which imports nothing else.
import { createServer } from 'node:http';
import { closeServer, createShutdown } from '../../src/gateway/shutdown.ts';

const tell = (event, fields = {}) => process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`);
const log = {
  info: (fields, text) => tell(text, fields),
  error: (fields, text) => tell(text, { ...fields, err: undefined }),
};

const [timeoutMs, failing] = process.argv.slice(2);
const shutdown = createShutdown({ log, timeoutMs: Number(timeoutMs) });
const waiting = new Map();
const streams = new Set();

const server = createServer((request, response) => {
  if (request.url === '/slow') waiting.set(response, () => response.end('done'));
  else if (request.url === '/stuck') tell('stuck');
  else if (request.url === '/finish') {
    for (const finish of waiting.values()) finish();
    response.end('finished');
  } else if (request.url === '/stream') {
    streams.add(response);
    response.write('data: 1\n\n');
  } else response.end(shutdown.stage);
  tell('asked', { url: request.url });
});

shutdown.add('streams', () => {
  tell('closing streams');
  for (const response of streams) response.end();
});
shutdown.add('requests', async () => {
  tell('closing server');
  const closed = closeServer(server);
  setImmediate(() => {
    for (const finish of waiting.values()) finish();
  });
  await closed;
});
shutdown.add('jobs', async () => {
  tell('closing jobs');
  if (failing) throw new Error('no');
});
shutdown.add('database', () => tell('closing database'));

server.listen(0, '127.0.0.1', () => {
  shutdown.ready();
  shutdown.listen();
  tell('listening', { port: server.address().port });
});
// Something that would keep the process alive by itself.
setInterval(() => undefined, 60_000);
