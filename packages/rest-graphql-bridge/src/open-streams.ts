/** A stream somebody is listening to. */
export interface OpenStream {
  /** Says goodbye in the stream's own way. */
  close(): void;
  /** Cuts the connection. */
  cut(): void;
}

/** Time a client has to take its leave before its connection is cut. */
const GRACE_MS = 1_000;

/** The streams of one bridge, so that it can end them when the server stops. */
export class OpenStreams {
  readonly #streams = new Set<OpenStream>();
  #closing = false;
  #emptied: (() => void) | undefined;

  add(stream: OpenStream): void {
    this.#streams.add(stream);
    if (this.#closing) stream.close();
  }

  /** To be called when the connection is gone. */
  remove(stream: OpenStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size === 0) this.#emptied?.();
  }

  /** Ends all streams, and those that still come; resolves when every connection is gone. */
  async closeAll(): Promise<void> {
    this.#closing = true;
    if (this.#streams.size === 0) return;
    const empty = new Promise<void>((resolve) => {
      this.#emptied = resolve;
    });
    for (const stream of [...this.#streams]) stream.close();
    const cut = setTimeout(() => {
      for (const stream of [...this.#streams]) stream.cut();
    }, GRACE_MS);
    await empty;
    clearTimeout(cut);
  }
}
