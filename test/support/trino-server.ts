import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * Speaks Trino's client protocol on loopback as it is documented
 * (https://trino.io/docs/current/develop/client-protocol.html). No real Trino was at hand: what it answers was written
 * after that page and the connectors' pages, not taken down from a server, and it executes no SQL. It holds its client
 * to the protocol (the tokens of nextUri in their order, nothing asked for after the end) and keeps what it was sent.
 */
export interface TrinoServer {
  url: string;
  /** In the order they came. */
  statements: ReceivedStatement[];
  /** Breaches of the protocol by the client. */
  breaches: string[];
  /** The last answer given for a pattern counts. */
  answer(pattern: RegExp, answer: Answer): void;
  /** Settles with the next statement that matches, once it runs. */
  running(pattern: RegExp): Promise<ReceivedStatement>;
  /** As after a restart of the coordinator. */
  forget(): void;
  /** The next requests are answered with this status and nothing else. */
  fail(status: number, times: number): void;
  close(): Promise<void>;
}

export interface ReceivedStatement {
  sql: string;
  user: string | undefined;
  source: string | undefined;
  authorization: string | undefined;
  state: 'QUEUED' | 'PLANNING' | 'RUNNING' | 'FINISHED' | 'FAILED';
  /** Asked for by DELETE. */
  cancelled: boolean;
}

export interface Answer {
  columns?: readonly { name: string; type: string }[];
  data?: readonly (readonly unknown[])[];
  updateCount?: number;
  error?: { message: string; errorName: string; errorType: string };
  /** Runs until it is cancelled or killed. */
  isEndless?: boolean;
  /** In place of the server's own, for the second page. */
  nextOrigin?: string;
}

interface Query extends ReceivedStatement {
  id: string;
  token: number;
  answer: Answer;
  /** A request that waits for an endless statement to end, as Trino would let it wait for a second. */
  held?: ServerResponse;
}

const CANCELED = { message: 'Query was canceled', errorName: 'USER_CANCELED', errorType: 'USER_ERROR' };
const UNKNOWN = { message: 'no answer was given', errorName: 'NOT_SUPPORTED', errorType: 'USER_ERROR' };
const STATES = ['QUEUED', 'PLANNING', 'RUNNING'] as const;

export async function startTrinoServer(): Promise<TrinoServer> {
  const queries: Query[] = [];
  const answers: { pattern: RegExp; answer: Answer }[] = [];
  const notes: { where: string; source: string; state: string; rows: number }[] = [];
  const breaches: string[] = [];
  const waiting: { pattern: RegExp; resolve: (query: Query) => void }[] = [];
  let failing: { status: number; times: number } = { status: 503, times: 0 };
  let forgotten = 0;
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (failing.times > 0) {
      failing.times -= 1;
      response.writeHead(failing.status).end();
    } else if (request.method === 'POST' && request.url === '/v1/statement') {
      reply(response, firstPage(request, body));
    } else {
      serveNext(request, response);
    }
  }

  function firstPage(request: IncomingMessage, sql: string): object {
    const header = (name: string) => request.headers[name] as string | undefined;
    const query: Query = {
      id: `20260101_000000_${String(queries.length).padStart(5, '0')}_test1`,
      sql,
      user: header('x-trino-user'),
      source: header('x-trino-source'),
      authorization: header('authorization'),
      state: 'QUEUED',
      cancelled: false,
      token: 1,
      answer: answerTo(sql),
    };
    queries.push(query);
    return page(query, query.answer.nextOrigin);
  }

  function serveNext(request: IncomingMessage, response: ServerResponse): void {
    const [, id, token] = /^\/v1\/statement\/executing\/(\w+)\/y0\/(\d+)$/.exec(request.url ?? '') ?? [];
    const query = queries.find((each) => each.id === id);
    // What was asked for last may be asked for again, for its answer may have been lost.
    const isKnown = query && [query.token, query.token - 1].includes(Number(token));
    if (!query || !isKnown || query.cancelled) {
      breaches.push(`${request.method} ${request.url}`);
      response.writeHead(404).end();
    } else if (request.method === 'DELETE') {
      query.cancelled = true;
      end(query);
      response.writeHead(204).end();
    } else if (Number(token) < query.token) {
      reply(response, page(query));
    } else if (query.answer.isEndless && query.state === 'RUNNING') {
      query.held = response;
    } else {
      reply(response, advance(query));
    }
  }

  /** Against its will. */
  function end(query: Query): void {
    query.state = 'FAILED';
    if (query.held) reply(query.held, page(query));
  }

  function advance(query: Query): object {
    query.token += 1;
    const next = STATES[STATES.indexOf(query.state as (typeof STATES)[number]) + 1];
    if (next) query.state = next;
    else if (!isOver(query)) query.state = query.answer.error ? 'FAILED' : 'FINISHED';
    if (query.state === 'RUNNING') tell(query);
    if (query.state === 'FINISHED') keepNote(query.sql);
    return page(query);
  }

  function page(query: Query, origin = url): object {
    const { id, state, token, answer } = query;
    const stats = {
      state,
      progressPercentage: state === 'FINISHED' ? 100 : state === 'RUNNING' ? 41.7 : null,
      processedRows: state === 'RUNNING' ? 7 : 0,
    };
    const common = { id, infoUri: `${url}/ui/query.html?${id}`, stats, warnings: [] };
    if (state === 'FAILED') return { ...common, error: { errorCode: 1, ...(answer.error ?? CANCELED) } };
    const link = { nextUri: `${origin}/v1/statement/executing/${id}/y0/${token}` };
    if (state !== 'FINISHED') return { ...common, ...link };
    const { columns = [], data, updateCount } = answer;
    if (updateCount !== undefined) return { ...common, updateType: 'INSERT', updateCount };
    return { ...common, columns, ...(data && { data }) };
  }

  /** Of the tables a load asks after, what the statements so far made of them; else what the test gave. */
  function answerTo(sql: string): Answer {
    const given = answers.findLast(({ pattern }) => pattern.test(sql));
    if (given) return given.answer;
    if (sql.startsWith('CREATE ')) return {};
    if (NOTE.test(sql)) return { updateCount: 1 };
    const [, where] =
      /^SELECT source, state, rows FROM "\w+"\."opsgraph"\."trino_load" WHERE (.*)$/.exec(sql) ?? [];
    if (where !== undefined) {
      const found = notes.filter((note) => note.where === where);
      return { data: found.map(({ source, state, rows }) => [source, state, rows]) };
    }
    const [, source] =
      /^SELECT query_id, state FROM system.runtime.queries WHERE source = '(.*)'$/.exec(sql) ?? [];
    if (source !== undefined) {
      const found = queries.slice(forgotten).filter((query) => query.source === source);
      return { data: found.map(({ id, state }) => [id, state]) };
    }
    const [, killed] = /^CALL system.runtime.kill_query\(query_id => '(\w+)'/.exec(sql) ?? [];
    const victim = queries.find(({ id }) => id === killed);
    if (victim) end(victim);
    return victim ? {} : { error: UNKNOWN };
  }

  function keepNote(sql: string): void {
    const [, run, task, source = '', state = '', rows] = NOTE.exec(sql) ?? [];
    if (run !== undefined) {
      notes.push({ where: `run_id = '${run}' AND task_id = '${task}'`, source, state, rows: Number(rows) });
    }
  }

  function tell(query: Query): void {
    const index = waiting.findIndex(({ pattern }) => pattern.test(query.sql));
    if (index >= 0) waiting.splice(index, 1)[0]?.resolve(query);
  }

  return {
    url,
    statements: queries,
    breaches,
    answer: (pattern, answer) => void answers.push({ pattern, answer }),
    running: (pattern) => new Promise((resolve) => waiting.push({ pattern, resolve })),
    forget: () => {
      forgotten = queries.length;
    },
    fail: (status, times) => {
      failing = { status, times };
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const NOTE =
  /^INSERT INTO "\w+"\."opsgraph"\."trino_load" VALUES \('(.*?)', '(.*?)', '(.*?)', '(\w+)', BIGINT '(\d+)'\)$/;

function isOver({ state }: Query): boolean {
  return state === 'FINISHED' || state === 'FAILED';
}

function reply(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
