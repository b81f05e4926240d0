export { type Bridge, type BridgeOptions, createBridge } from './bridge.js';
export { emitOpenApi, type OpenApiDocument, type OpenApiOptions } from './emit-open-api.js';
export type { Admit, Arrival, ContextExtras, RouteInfo } from './endpoint.js';
export {
  type ErrorRenderer,
  type Failure,
  failureOf,
  type InputPlace,
  type InputProblem,
  type RenderedFailure,
} from './failure.js';
export type { ScalarConstraints } from './input-check.js';
export type { ScalarSchemas } from './open-api-schemas.js';
export { type Param, param, type SchemaObject } from './param.js';
export type { OnUnexpected } from './respond.js';
export { type Route, route, routeFor, routes } from './route.js';
export type {
  BodyOptions,
  BodyType,
  CloseFrame,
  Method,
  NullPolicy,
  ResponseType,
  RouteTable,
  Row,
  RowInput,
  SseEvent,
  StreamLife,
  UploadedFile,
} from './row.js';
export type { Around, RowAnswer, RowCall } from './serve-json.js';
export type { SelectProtocol } from './serve-web-socket.js';
export type { Surface } from './surface.js';
