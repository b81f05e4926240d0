import type { DocumentNode } from 'graphql';
import type { ErrorRenderer } from './failure.js';
import type { Param, SchemaObject } from './param.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** How a request body is read: against a GraphQL input type, as any JSON, as UTF-8 text, as a form with one file. */
export type BodyType = 'json' | 'freeform' | 'text' | 'multipart' | 'none';

/** How a result is written. `freeform` is JSON that OpenAPI describes as any value. */
export type ResponseType = 'json' | 'freeform' | 'text' | 'none';

export interface BodyOptions {
  /** The variable whose input type validates a JSON body; without `variables()` it also receives the body. */
  readonly variable?: string;
  /** Fields dropped before validation, so that what GET answered can be sent back with PUT. */
  readonly readOnly?: readonly string[];
  /** `json` when a variable is named, otherwise it must be given. */
  readonly type?: BodyType;
  /** Overrides `maxBodyBytes` of the bridge for this row; for multipart it bounds the file. Bytes. */
  readonly limitBytes?: number;
  /** An absent body is no problem and reaches `variables()` as undefined. */
  readonly optional?: boolean;
  /** Name of the file part of a multipart body. Default `file`. */
  readonly fileField?: string;
  readonly description?: string;
}

/** A file of a multipart request, already on disk. It is deleted once the response is closed: move it to keep it. */
export interface UploadedFile {
  /** Absolute path below the bridge's own temporary folder. */
  readonly path: string;
  /** Base name as the client sent it: never use it as a path. */
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
}

/** What a result path does with null. `*` stands for every path that is not named. */
export type NullPolicy = 'keep' | 'omit' | { readonly [path: string]: 'keep' | 'omit' };

export type ParamTable = { readonly [name: string]: Param<unknown> };

/** One server-sent event. `data` is sent as it is when it is a string, otherwise as JSON. */
export interface SseEvent {
  readonly event?: string;
  readonly id?: string | number;
  readonly data: unknown;
}

export interface CloseFrame {
  /** RFC 6455 section 7.4: 1000 or 3000 to 4999. */
  readonly code: number;
  /** At most 123 bytes of UTF-8. */
  readonly reason?: string;
}

/** How long a stream may stay open, and how a WebSocket is closed then. */
export interface StreamLife {
  /** Milliseconds. */
  readonly ms: number;
  readonly close: CloseFrame;
}

/** What every row may say, whatever it is served as. */
export interface CommonOptions {
  readonly errors?: ErrorRenderer;
  /** OpenAPI security requirements; an empty list means none. */
  readonly security?: readonly { readonly [scheme: string]: readonly string[] }[];
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  /** Handed to the context factory untouched, e.g. 'public'. */
  readonly access?: unknown;
  /** What happens to a query parameter the row doesn't name. Default `ignore`. */
  readonly unknownQuery?: 'ignore' | 'refuse';
  /** OpenAPI schema of the response, for a `select` that can't be followed from the outside. */
  readonly responseSchema?: SchemaObject;
}

/** Everything `variables()` of any row may look at. */
export interface RowInput<C> {
  readonly params: { readonly [name: string]: unknown };
  readonly query: { readonly [name: string]: unknown };
  readonly headers: { readonly [name: string]: unknown };
  readonly body: unknown;
  readonly file: UploadedFile | undefined;
  readonly lastEventId: string | undefined;
  readonly context: C;
}

interface AnyRow<C> extends CommonOptions {
  readonly document: DocumentNode;
  readonly path: string;
  readonly params: ParamTable;
  readonly query: ParamTable;
  readonly headers: ParamTable;
  readonly variables?: (input: RowInput<C>) => object;
}

export interface JsonRow<C> extends AnyRow<C> {
  readonly kind: 'json';
  readonly method: Method;
  readonly body?: BodyOptions;
  readonly status?: number | ((result: unknown) => number);
  readonly responseHeaders?: (result: unknown) => Readonly<Record<string, string>>;
  readonly select?: (result: unknown) => unknown;
  readonly nulls?: NullPolicy;
  readonly response?: ResponseType;
}

/** Limits of a row that stays open. */
export interface StreamOptions {
  /** The stream ends itself after this many milliseconds. Default: no limit. */
  readonly maxLifeMs?: number;
  /** A client with more unsent bytes than this gets no more events until it has taken them. Default 1 MiB. */
  readonly maxBufferedBytes?: number;
  /** A client over `maxBufferedBytes` for this long is dropped. Default 2,000 ms. */
  readonly stallMs?: number;
}

export interface SseRow<C> extends AnyRow<C>, StreamOptions {
  readonly kind: 'sse';
  readonly method: 'GET';
  /** The event for one result; undefined sends nothing. */
  readonly event: (result: unknown) => SseEvent | undefined;
  /** The first event, sent once the source is subscribed. */
  readonly connected?: (input: RowInput<C>) => SseEvent;
  /** Sent before the stream ends because an event could not be resolved. Without it the stream just ends. */
  readonly failed?: SseEvent;
  /** Silence after which a heartbeat is sent. Default 15,000 ms. */
  readonly heartbeatMs?: number;
  /** Name of the heartbeat event; without it the heartbeat is a comment. */
  readonly heartbeatEvent?: string;
  /** The reconnection delay told to the client. Milliseconds. */
  readonly retryMs?: number;
}

export interface WebSocketRow<C> extends AnyRow<C>, StreamOptions {
  readonly kind: 'webSocket';
  readonly method: 'GET';
  /** The message for one result, sent as JSON, or as it is when a string; undefined sends nothing. */
  readonly message: (result: unknown) => unknown;
  /** A result after whose message the server closes. */
  readonly closeWhen?: (result: unknown) => CloseFrame | undefined;
  /** Time between pings; a client that missed one is dropped. Default 30,000 ms. */
  readonly pingMs?: number;
}

/** One row of a table. Made by `route`, `route.sse` and `route.webSocket`, which alone know its result type. */
export type Row<C = unknown> = JsonRow<C> | SseRow<C> | WebSocketRow<C>;

/** Rows and the file they stand in. */
export interface RouteTable<C = unknown> {
  readonly file: string;
  readonly rows: readonly Row<C>[];
}
