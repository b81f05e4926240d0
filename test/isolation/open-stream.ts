import { once } from 'node:events';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { Chosen } from './arguments.js';
import type { RootOperation } from './graphql-operations.js';
import type { Actor } from './houses.js';
import type { RowOperation } from './rest-operations.js';

/** What came over something that stays open. */
export interface OpenStream {
  /** Everything that came so far, as text. */
  readonly messages: readonly string[];
  /** Resolves with the code of the refusal, or with undefined as soon as one message is there. */
  readonly outcome: Promise<string | undefined>;
  close(): Promise<void>;
}

const codes: Record<number, string> = { 403: 'AUTHORIZATION_ERROR', 404: 'NOT_FOUND' };

/** A subscription over graphql-ws. */
export async function openSubscription(
  operation: RootOperation,
  actor: Actor,
  chosen?: Chosen,
): Promise<OpenStream> {
  const { url } = actor.houses.app;
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: operation.door === 'platform' ? actor.house.platform : actor.itsm,
    retryAttempts: 0,
  });
  const variables = await operation.variables(actor, chosen);
  const messages: string[] = [];
  const outcome = new Promise<string | undefined>((resolve) => {
    client.subscribe(
      { query: operation.document, variables },
      {
        next: ({ data, errors }) => {
          messages.push(JSON.stringify({ data, errors }));
          resolve(errors === undefined ? undefined : String(errors[0]?.extensions?.['code']));
        },
        error: (error) => resolve(codeOf(error)),
        complete: () => resolve('ended without a message'),
      },
    );
  });
  return { messages, outcome, close: async () => client.dispose() };
}

function codeOf(error: unknown): string {
  const [first] = Array.isArray(error) ? (error as { extensions?: { code?: unknown } }[]) : [];
  return String(first?.extensions?.code ?? error);
}

/** A row that is served as server-sent events or over a WebSocket of its own. */
export async function openRow(operation: RowOperation, actor: Actor, chosen?: Chosen): Promise<OpenStream> {
  const { url } = actor.houses.app;
  const path = await operation.path(actor, chosen);
  const headers = path.startsWith('/v1') ? actor.itsm : actor.house.platform;
  return operation.row.kind === 'sse'
    ? openEvents(`${url}${path}`, headers)
    : openSocket(`${url.replace('http', 'ws')}${path}`, headers);
}

async function openEvents(url: string, headers: Record<string, string>): Promise<OpenStream> {
  const end = new AbortController();
  const response = await fetch(url, { headers, signal: end.signal });
  const messages: string[] = [];
  const { promise: first, resolve } = Promise.withResolvers<undefined>();
  const read = async () => {
    if (response.status !== 200) return;
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      messages.push(chunk);
      if (/^data:/m.test(chunk)) resolve(undefined);
    }
  };
  const reading = read().catch(() => undefined);
  return {
    messages,
    outcome:
      response.status === 200 ? first : Promise.resolve(codes[response.status] ?? String(response.status)),
    async close() {
      end.abort();
      await reading;
    },
  };
}

async function openSocket(url: string, headers: Record<string, string>): Promise<OpenStream> {
  const socket = new WebSocket(url, { headers });
  const messages: string[] = [];
  const outcome = new Promise<string | undefined>((resolve) => {
    socket.on('message', (data) => {
      messages.push(String(data));
      resolve(undefined);
    });
    socket.on('unexpected-response', (_request, { statusCode = 0 }) => {
      resolve(codes[statusCode] ?? String(statusCode));
      socket.terminate();
    });
    socket.on('error', (error) => resolve(error.message));
    socket.on('close', (code) => resolve(`closed with ${code}`));
  });
  return {
    messages,
    outcome,
    async close() {
      if (socket.readyState === WebSocket.CLOSED) return;
      socket.terminate();
      await once(socket, 'close');
    },
  };
}
