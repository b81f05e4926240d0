import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import busboy, { type Busboy } from 'busboy';
import { type InputProblem, RequestRefused } from './failure.js';
import { bodyProblem } from './input-check.js';
import { checkMediaType, hasBody } from './request-body.js';
import type { BodyOptions, RowInput, UploadedFile } from './row.js';
import type { Mutable } from './row-input.js';

const MAX_FIELDS = 100;
const MAX_FIELD_BYTES = 65_536;

interface Form {
  readonly fields: { [name: string]: string };
  file: UploadedFile | undefined;
  readonly problems: InputProblem[];
}

/**
 * Reads a multipart/form-data body (RFC 7578): one file, streamed to disk and never held in memory, and text fields.
 * The file's folder is removed when the response is closed.
 */
export function receiveMultipart(options: BodyOptions, limitBytes: number) {
  const fileField = options.fileField ?? 'file';
  return async (
    request: IncomingMessage,
    response: ServerResponse,
    input: Mutable<RowInput<unknown>>,
    problems: InputProblem[],
  ): Promise<void> => {
    if (!hasBody(request)) {
      if (!options.optional) problems.push(bodyProblem([fileField], 'isDefined', 'is required'));
      return;
    }
    checkMediaType(request, 'multipart');
    const folder = await mkdtemp(join(tmpdir(), 'rest-graphql-bridge-'));
    const clean = () => rm(folder, { recursive: true, force: true }).catch(() => undefined);
    if (response.destroyed) await clean();
    else response.once('close', clean);
    const form = await readForm(request, folder, fileField, limitBytes);
    problems.push(...form.problems);
    if (!form.file && !options.optional) problems.push(bodyProblem([fileField], 'isDefined', 'is required'));
    input.body = form.fields;
    input.file = form.file;
  };
}

function parserFor(request: IncomingMessage, limitBytes: number): Busboy {
  try {
    return busboy({
      headers: request.headers,
      // One more of each than is allowed, so that a surplus is refused and not silently cut off.
      limits: { files: 2, fileSize: limitBytes, fields: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES },
      defParamCharset: 'utf8',
    });
  } catch (error) {
    throw malformed(error);
  }
}

function malformed(error: unknown): RequestRefused {
  return new RequestRefused({
    kind: 'malformed-body',
    message: error instanceof Error ? error.message : 'Bad form',
  });
}

async function readForm(
  request: IncomingMessage,
  folder: string,
  fileField: string,
  limitBytes: number,
): Promise<Form> {
  const parser = parserFor(request, limitBytes);
  const form: Form = { fields: Object.create(null), file: undefined, problems: [] };
  const writing: Promise<unknown>[] = [];
  const tooLarge = () => new RequestRefused({ kind: 'body-too-large', limitBytes });
  parser.on('field', (name, value, { valueTruncated }) => {
    if (valueTruncated)
      form.problems.push(bodyProblem([name], 'maxLength', `must have at most ${MAX_FIELD_BYTES} bytes`));
    else form.fields[name] = value;
  });
  parser.on('fieldsLimit', () =>
    form.problems.push(bodyProblem([], 'maxItems', `must have at most ${MAX_FIELDS} fields`)),
  );
  parser.on('file', (name, stream, { filename, mimeType }) => {
    if (name !== fileField || writing.length > 0) {
      const constraint = name === fileField ? 'isSingle' : 'whitelistValidation';
      form.problems.push(
        bodyProblem([name], constraint, name === fileField ? 'must be given once' : 'is not allowed'),
      );
      stream.resume();
      return;
    }
    stream.once('limit', () => parser.destroy(tooLarge()));
    const path = join(folder, 'upload');
    const file = { path, filename: basename(filename || 'file'), mimeType };
    const written = store(stream, path).then((sizeBytes) => {
      form.file = { ...file, sizeBytes };
    });
    // Awaited below; a failure must not count as unhandled before that.
    written.catch(() => undefined);
    writing.push(written);
  });
  await feed(request, parser);
  await Promise.all(writing);
  return form;
}

async function store(stream: Readable, path: string): Promise<number> {
  const target = createWriteStream(path, { mode: 0o600 });
  await pipeline(stream, target);
  return target.bytesWritten;
}

/** Not `pipeline`: that destroys the request on an error, and the socket with it, before the answer was sent. */
function feed(request: IncomingMessage, parser: Busboy): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (error: unknown) => {
      request.unpipe(parser);
      request.pause();
      request.off('close', onClose);
      reject(error instanceof RequestRefused ? error : malformed(error));
    };
    // A request also closes once it has been read to its end.
    const onClose = () => request.complete || parser.destroy(new Error('The request body ended early'));
    parser.once('close', () => {
      request.off('close', onClose);
      resolve();
    });
    parser.once('error', stop);
    request.once('close', onClose);
    request.pipe(parser);
  });
}
