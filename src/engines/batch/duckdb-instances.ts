import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { ChildOptions } from './messages.js';
import { isReadInPlace } from './plan-units.js';
import { sourceFiles } from './source-files.js';
import { spillDirectory } from './spill-directory.js';
import { literal } from './sql-text.js';

export type InstanceName = 'sandbox' | 'loader';

/** A loader only streams between files, so it gets the small part of the memory. */
const SHARE: Record<InstanceName, number> = { sandbox: 0.75, loader: 0.25 };
/** Below this it could not hold its buffers: a JSON reader wants 32 MiB for each thread. */
const FLOOR_MB: Record<InstanceName, number> = { sandbox: 0, loader: 128 };

const OPEN_SETTINGS = ['threads', 'enable_progress_bar', 'enable_progress_bar_print'];

/**
 * Two DuckDB instances, because file access is a setting of the whole instance and cannot be changed once taken away.
 * `sandbox` runs the author's SQL and reaches only the run's directory, and the files that sources within its steps
 * name; `loader` runs only the engine's own statements and reaches the file roots too. Neither loads extensions; the sandbox's configuration is locked.
 */
export class DuckDbInstances {
  readonly spillDirectory: string;
  readonly #opened = new Map<InstanceName, Promise<DuckDBInstance>>();
  readonly #threads = new Map<InstanceName, number>();
  readonly #readableInPlace = new Set<string>();

  private constructor(readonly options: ChildOptions) {
    this.spillDirectory = spillDirectory(options.runDirectory, process.pid);
  }

  static async open(options: ChildOptions): Promise<DuckDbInstances> {
    const instances = new DuckDbInstances(options);
    await mkdir(instances.spillDirectory, { recursive: true, mode: 0o700 });
    await instances.#instance('sandbox');
    return instances;
  }

  /**
   * A new connection, to be closed by the caller. Each time that its task ran out of memory halves the threads, since
   * each has buffers of its own; they stay halved, because DuckDB has them for all tasks of the session alike.
   */
  async connect(name: InstanceName, outOfMemory = 0): Promise<DuckDBConnection> {
    const instance = await this.#instance(name);
    const connection = await instance.connect();
    const threads = Math.max(1, Math.floor(this.options.threads / 2 ** outOfMemory));
    if (threads < (this.#threads.get(name) ?? this.options.threads)) {
      this.#threads.set(name, threads);
      await connection.run(`SET threads = ${threads}`);
    }
    return connection;
  }

  /** Whether the sandbox may read these files; one that came after it was opened it may not. */
  canReadInPlace(files: readonly string[]): boolean {
    return files.every((file) => this.#readableInPlace.has(file));
  }

  #instance(name: InstanceName): Promise<DuckDBInstance> {
    const existing = this.#opened.get(name);
    if (existing) return existing;
    const opening = this.#openInstance(name);
    this.#opened.set(name, opening);
    return opening;
  }

  async #openInstance(name: InstanceName): Promise<DuckDBInstance> {
    const { memoryLimitMb, threads, runDirectory } = this.options;
    const spillMb = this.options.spillLimitMb ?? memoryLimitMb * 10;
    const instance = await DuckDBInstance.create(':memory:', {
      memory_limit: `${Math.max(Math.ceil(memoryLimitMb * SHARE[name]), FLOOR_MB[name])}MB`,
      threads: String(threads),
      temp_directory: join(this.spillDirectory, name),
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      allow_community_extensions: 'false',
    });
    const roots = name === 'loader' ? await this.#fileRoots() : [];
    const files = name === 'sandbox' ? await this.#filesReadInPlace() : [];
    const connection = await instance.connect();
    try {
      await connection.run("SET GLOBAL TimeZone = 'UTC'");
      // Not an option at opening: DuckDB 1.5 then shows the limit but spills without one (measured: 392 MB at "8MB").
      await connection.run(`SET max_temp_directory_size = '${Math.ceil(spillMb * SHARE[name])}MB'`);
      await connection.run(`SET allowed_directories = [${[runDirectory, ...roots].map(literal).join(', ')}]`);
      await connection.run(`SET allowed_paths = [${files.map(literal).join(', ')}]`);
      await connection.run('SET enable_external_access = false');
      // A SELECT, which is all an author can write, cannot set anything; what the lock leaves open is for `connect` and
      // for the progress of a statement.
      await connection.run(`SET allowed_configs = [${OPEN_SETTINGS.map(literal).join(', ')}]`);
      if (name === 'sandbox') await connection.run('SET lock_configuration = true');
    } finally {
      connection.closeSync();
    }
    return instance;
  }

  async #filesReadInPlace(): Promise<string[]> {
    const inner = (this.options.tasks ?? []).flatMap(({ within }) => within ?? []);
    const found = await Promise.all(
      inner.map(({ spec }) => (isReadInPlace(spec) ? sourceFiles(spec, this.options).catch(() => []) : [])),
    );
    const files = found.flat();
    for (const file of files) this.#readableInPlace.add(file);
    return files;
  }

  async #fileRoots(): Promise<string[]> {
    const { filesBase, filesRoots } = this.options;
    await mkdir(filesBase, { recursive: true });
    const found = await Promise.all(
      [filesBase, ...filesRoots].map((path) => realpath(path).catch(() => undefined)),
    );
    return found.filter((path) => path !== undefined);
  }
}
