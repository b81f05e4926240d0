import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Admit, Endpoint, MakeContext } from './endpoint.js';
import { failureOf, type InputProblem } from './failure.js';
import { readInput } from './http-dispatch.js';
import { PathTrie, type Segment } from './path-trie.js';
import { refuseProblems } from './request-parameters.js';
import { pathOf } from './request-url.js';
import { type OnUnexpected, sendFailureOnSocket } from './respond.js';
import type { RowInput } from './row.js';

/** A request to upgrade, as the server's 'upgrade' event hands it over. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** A row that is served over a WebSocket. */
export interface SocketEndpoint extends Endpoint {
  readonly serve: (upgrade: Upgrade, input: RowInput<unknown>) => Promise<void>;
}

/** Finds the row for an upgrade request; what is refused gets an HTTP answer on its socket. */
export class SocketDispatch {
  readonly #trie = new PathTrie<SocketEndpoint>();
  readonly #makeContext: MakeContext;
  readonly #admit: Admit | undefined;
  readonly #tell: OnUnexpected;

  constructor(makeContext: MakeContext, admit: Admit | undefined, tell: OnUnexpected) {
    this.#makeContext = makeContext;
    this.#admit = admit;
    this.#tell = tell;
  }

  add(segments: readonly Segment[], endpoint: SocketEndpoint): void {
    this.#trie.place(segments, () => endpoint);
  }

  handle(upgrade: Upgrade): boolean {
    const match = this.#trie.find(pathOf(upgrade.request));
    if (!match) return false;
    // Until `ws` takes the socket over nobody else listens, and an unheard 'error' ends the process.
    upgrade.socket.on('error', () => upgrade.socket.destroy());
    void this.#answer(match.value, upgrade, match.captured);
    return true;
  }

  async #answer(endpoint: SocketEndpoint, upgrade: Upgrade, captured: readonly string[]): Promise<void> {
    const { request, socket } = upgrade;
    try {
      await this.#admit?.(request, { path: endpoint.info.path, response: undefined });
      const problems: InputProblem[] = [];
      const input = await readInput(endpoint, this.#makeContext, request, undefined, captured, problems);
      refuseProblems(problems);
      await endpoint.serve(upgrade, input);
    } catch (error) {
      sendFailureOnSocket(request, socket, failureOf(error), endpoint.errors, this.#tell);
    }
  }
}
