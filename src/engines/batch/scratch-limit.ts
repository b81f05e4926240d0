import { Transform } from 'node:stream';
import { EngineError } from '../engine-error.js';
import type { TaskContext } from './task-context.js';

const MEGABYTE = 1_000_000;

/** What one source may put on the disk while it is read: as much as DuckDB may spill. */
export class ScratchLimit {
  readonly #megabytes: number;
  #bytes = 0;

  constructor({ options }: TaskContext) {
    this.#megabytes = options.spillLimitMb ?? options.memoryLimitMb * 10;
  }

  /** @throws EngineError DISK_FULL when these bytes are too many besides those before */
  take(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#megabytes * MEGABYTE) return;
    throw new EngineError(
      'DISK_FULL',
      `The source is larger than the ${this.#megabytes} MB of disk that a run may use while it reads: read a part of it.`,
    );
  }

  /** Lets bytes through while there is room. */
  stream(): Transform {
    return new Transform({
      highWaterMark: 1 << 20,
      transform: (chunk: Buffer, _, done) => {
        try {
          this.take(chunk.length);
          done(null, chunk);
        } catch (error) {
          done(error as Error);
        }
      },
    });
  }
}
