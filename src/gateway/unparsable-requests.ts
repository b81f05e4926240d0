import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { invalidField } from '../errors.js';
import type { FailureAnswers } from './error-handler.js';

interface ClientError extends Error {
  code?: string;
  /** What the parser had before it when it gave up; a later piece of a request has no request line. */
  rawPacket?: Buffer;
}

const REQUEST_LINE = /^([A-Z]{1,20}) (\/\S{0,8000}) /;
/** Where our codes of errors have no word for it; as Node answers by itself. */
const bareStatuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Answers what is no HTTP in the error language of the path it names, or of the root when that can't be read. Node's own
 * answer has no body. The connection ends, since nobody knows where the next request would begin.
 */
export function answerUnparsable(server: Server, failures: Pick<FailureAnswers, 'send'>): void {
  server.on('clientError', (error: ClientError, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const request = new IncomingMessage(socket as Socket);
    const [, method, url] = REQUEST_LINE.exec(error.rawPacket?.toString('latin1', 0, 8_192) ?? '') ?? [];
    request.method = method ?? 'GET';
    request.url = url ?? '/';
    const response = new ServerResponse(request);
    try {
      response.assignSocket(socket as Socket);
    } catch {
      // The answer to an earlier request of the connection is under way, and another one in the middle would garble it.
      return void socket.destroy();
    }
    response.shouldKeepAlive = false;
    response.once('finish', () => socket.end());
    const status = bareStatuses[error.code ?? ''];
    if (status !== undefined)
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    else {
      const problem = invalidField('request', 'isHttp', 'The request is not valid HTTP');
      failures.send({ kind: 'thrown', error: problem }, request, response);
    }
  });
}
