import type { FromChild, ToChild } from './messages.js';

/** What the server says to the process that starts the engine's processes for it. `id` is the server's own. */
export type ToNursery =
  | { type: 'start'; id: number; entry: string; directory: string }
  | { type: 'tell'; id: number; message: ToChild }
  | { type: 'kill'; id: number };

export type FromNursery =
  | { type: 'started'; id: number; pid: number | undefined }
  | { type: 'told'; id: number; message: FromChild }
  | { type: 'complained'; id: number; text: string }
  | { type: 'gone'; id: number; exitCode: number | null; signalCode: NodeJS.Signals | null };
