import { once } from 'node:events';
import { WebSocket } from 'ws';

export interface Message {
  type: 'run' | 'task' | 'log';
  seq: number;
  runId: string;
  timestamp: string;
  status?: string;
  taskId?: string;
  percent?: number;
  level?: string;
  message?: string;
}

export interface Watched {
  socket: WebSocket;
  messages: Message[];
  /** Resolves with the close code. */
  closed: Promise<number>;
  /** Resolves when a message fits. */
  until(fits: (message: Message) => boolean): Promise<Message>;
}

/** Follows a run over its WebSocket; without `after` from now on. */
export function watch(
  url: string,
  runId: string,
  options: { after?: number; credential: Record<string, string> },
): Watched {
  const { after, credential } = options;
  const query = after === undefined ? '' : `?after=${after}`;
  const address = `${url.replace('http', 'ws')}/api/v1/runs/${runId}/stream${query}`;
  const socket = new WebSocket(address, { headers: credential });
  const messages: Message[] = [];
  socket.on('message', (data) => {
    messages.push(JSON.parse(String(data)));
    socket.emit('seen');
  });
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  return {
    socket,
    messages,
    closed,
    async until(fits) {
      for (;;) {
        const found = messages.find(fits);
        if (found) return found;
        await once(socket, 'seen');
      }
    },
  };
}
