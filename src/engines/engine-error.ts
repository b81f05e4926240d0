const ENGINE_ERROR_KINDS = [
  'SOURCE',
  'SQL',
  'TARGET',
  'OUT_OF_MEMORY',
  'DISK_FULL',
  'CONNECTION',
  'CANCELLED',
  'TIMEOUT',
  'INTERNAL',
] as const;

export type EngineErrorKind = (typeof ENGINE_ERROR_KINDS)[number];

export interface EngineErrorOptions {
  /** True when the same task may succeed if it is simply tried again. */
  transient?: boolean;
  /** The task within the failed one that the error can be traced to. */
  taskId?: string;
  cause?: unknown;
}

/** The only error a back end lets out. The message is meant for the author of the pipeline and holds no secret. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly kind: EngineErrorKind;
  readonly transient: boolean;
  readonly taskId: string | undefined;

  constructor(kind: EngineErrorKind, message: string, options: EngineErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.transient = options.transient ?? false;
    this.taskId = options.taskId;
  }
}
