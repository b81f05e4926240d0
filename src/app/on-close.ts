type Close = () => void | Promise<void>;

/** Called as soon as a thing is open, so that a start that fails halfway leaves nothing behind. */
export type OnClose = (name: string, close: Close) => void;

export interface Closers {
  add: OnClose;
  /** What was opened last is closed first. */
  newestFirst(): { name: string; close: Close }[];
}

export function createClosers(): Closers {
  const closers: { name: string; close: Close }[] = [];
  return {
    add: (name, close) => void closers.push({ name, close }),
    newestFirst: () => closers.toReversed(),
  };
}
