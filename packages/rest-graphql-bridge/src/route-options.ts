import type { Param, ParamValue } from './param.js';
import type {
  BodyOptions,
  CloseFrame,
  CommonOptions,
  Method,
  NullPolicy,
  ParamTable,
  ResponseType,
  SseEvent,
  StreamOptions,
  UploadedFile,
} from './row.js';

/** The names of the `:parameters` of a path. */
export type PathNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** Parsers for some of the path's parameters; a name the path doesn't have does not compile. */
export type ParamTableFor<Path extends string> = { readonly [K in PathNames<Path>]?: Param<unknown> };

export type PathValues<Path extends string, P> = {
  readonly [K in PathNames<Path>]: K extends keyof P ? NonNullable<ParamValue<P[K]>> : string;
};

export type TableValues<T extends ParamTable> = { readonly [K in keyof T]: ParamValue<T[K]> };

/** Body options whose `variable` is one of the operation's. */
export type BodyFor<V> = Omit<BodyOptions, 'variable'> & { readonly variable?: keyof V & string };

type BodyVariable<B> = B extends { readonly variable: infer Name } ? Name : never;

type PresentBody<V, B> = B extends { readonly type: 'text' }
  ? string
  : B extends { readonly type: 'multipart' }
    ? { readonly [field: string]: string }
    : B extends { readonly variable: infer Name extends keyof V }
      ? NonNullable<V[Name]>
      : B extends { readonly type: 'freeform' }
        ? unknown
        : undefined;

type BodyValue<V, B> = B extends { readonly optional: true }
  ? PresentBody<V, B> | undefined
  : PresentBody<V, B>;

type FileValue<B> = B extends { readonly type: 'multipart'; readonly optional: true }
  ? UploadedFile | undefined
  : B extends { readonly type: 'multipart' }
    ? UploadedFile
    : undefined;

/** What `variables()` of a JSON row sees. */
export interface JsonInput<C, V, Path extends string, P, Q extends ParamTable, H extends ParamTable, B> {
  readonly params: PathValues<Path, P>;
  readonly query: TableValues<Q>;
  readonly headers: TableValues<H>;
  readonly body: BodyValue<V, B>;
  readonly file: FileValue<B>;
  readonly context: C;
}

/** What `variables()` of a subscription row sees. */
export interface SubscriptionInput<C, Path extends string, P, Q extends ParamTable, H extends ParamTable> {
  readonly params: PathValues<Path, P>;
  readonly query: TableValues<Q>;
  readonly headers: TableValues<H>;
  /** From the Last-Event-ID header or the lastEventId query parameter. */
  readonly lastEventId: string | undefined;
  readonly context: C;
}

type Scalar = string | number | boolean | bigint | symbol | null | undefined | Date;

type AnyKey<T> = T extends unknown ? keyof T : never;

type AtKey<T, K> = T extends unknown ? (K extends keyof T ? T[K] : never) : never;

/**
 * `Given` with `never` at each property `Shape` doesn't have. TypeScript checks no excess properties in what an
 * arrow function returns (microsoft/TypeScript#7547), so a misspelt optional variable would otherwise compile.
 */
export type Exactly<Shape, Given> = unknown extends Shape
  ? Given
  : Given extends Scalar
    ? Given
    : Given extends readonly (infer Item)[]
      ? readonly Exactly<Shape extends readonly (infer S)[] ? S : Shape, Item>[]
      : string extends AnyKey<NonNullable<Shape>>
        ? Given
        : {
            [K in keyof Given]: K extends AnyKey<NonNullable<Shape>>
              ? Exactly<AtKey<NonNullable<Shape>, K>, Given[K]>
              : never;
          };

interface Shared<Path extends string, P, Q, H> extends CommonOptions {
  readonly path: Path;
  readonly params?: P;
  readonly query?: Q;
  /** Parsers of request headers, by lower-case name. */
  readonly headers?: H;
}

export interface JsonOptions<
  C,
  R,
  V,
  Path extends string,
  P,
  Q extends ParamTable,
  H extends ParamTable,
  B,
  W extends V,
> extends Shared<Path, P, Q, H> {
  readonly method: Method;
  readonly body?: B;
  readonly variables?: (input: JsonInput<C, V, Path, P, Q, H, B>) => W & Exactly<V, W>;
  /** Default 200, or 204 when `response` is `none`. */
  readonly status?: number | ((result: R) => number);
  readonly responseHeaders?: (result: R) => Readonly<Record<string, string>>;
  /** The response body. Default: the value of the only root field, or the whole data when there are several. */
  readonly select?: (result: R) => unknown;
  readonly nulls?: NullPolicy;
  readonly response?: ResponseType;
}

interface Subscribed<C, V, Path extends string, P, Q extends ParamTable, H extends ParamTable, W extends V>
  extends Shared<Path, P, Q, H>,
    StreamOptions {
  readonly variables?: (input: SubscriptionInput<C, Path, P, Q, H>) => W & Exactly<V, W>;
}

export interface SseOptions<
  C,
  R,
  V,
  Path extends string,
  P,
  Q extends ParamTable,
  H extends ParamTable,
  W extends V,
> extends Subscribed<C, V, Path, P, Q, H, W> {
  readonly event: (result: R) => SseEvent | undefined;
  readonly connected?: (input: SubscriptionInput<C, Path, P, Q, H>) => SseEvent;
  readonly failed?: SseEvent;
  readonly heartbeatMs?: number;
  readonly heartbeatEvent?: string;
  readonly retryMs?: number;
}

export interface WebSocketOptions<
  C,
  R,
  V,
  Path extends string,
  P,
  Q extends ParamTable,
  H extends ParamTable,
  W extends V,
> extends Subscribed<C, V, Path, P, Q, H, W> {
  readonly message: (result: R) => unknown;
  readonly closeWhen?: (result: R) => CloseFrame | undefined;
  readonly pingMs?: number;
}

type None = Record<never, never>;

/** `variables` must be there unless every variable is optional or the body fills the required one. */
export type JsonRequirements<V, B> =
  None extends Omit<V, BodyVariable<B> & string> ? unknown : { readonly variables: unknown };

export type SubscriptionRequirements<V> = None extends V ? unknown : { readonly variables: unknown };
