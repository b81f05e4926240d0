import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import type { FileConnectionTarget } from '../engine.js';
import { EngineError, type EngineErrorKind } from '../engine-error.js';
import { ScratchLimit } from './scratch-limit.js';
import type { TaskContext } from './task-context.js';

export type S3Target = Extract<FileConnectionTarget, { storage: 's3' }>;

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 60_000;
const MAX_FILES = 10_000;
/** The service wants parts of 5 MiB and more, and takes 10,000 of them. */
const PART_BYTES = 8 * 1024 ** 2;
const MAX_PARTS = 10_000;

/**
 * Brings the object, or for a directory those whose names pass `wanted`, into `directory`; returns their paths there.
 * @throws EngineError SOURCE or CONNECTION
 */
export function downloadObjects(
  context: TaskContext,
  target: S3Target,
  path: string,
  directory: string,
  wanted: (name: string) => boolean,
): Promise<string[]> {
  return withS3(target, 'SOURCE', async (client) => {
    const { GetObjectCommand } = await import('@aws-sdk/client-s3');
    const objects = await find(context, client, target, path, wanted);
    const total = objects.reduce((sum, { size }) => sum + size, 0);
    new ScratchLimit(context).take(total);
    let done = 0;
    for (const { key, size } of objects) {
      const command = new GetObjectCommand({ Bucket: target.bucket, Key: key });
      const answer = await client.send(command, { abortSignal: context.signal });
      const file = createWriteStream(join(directory, basename(key)), { mode: 0o600 });
      await pipeline(answer.Body as Readable, file, { signal: context.signal });
      done += size;
      if (total > 0) context.progress(Math.floor((done / total) * 50), 0);
    }
    return (await readdir(directory)).sort().map((name) => join(directory, name));
  });
}

async function find(
  context: TaskContext,
  client: S3Client,
  { bucket, prefix }: S3Target,
  path: string,
  wanted: (name: string) => boolean,
): Promise<{ key: string; size: number }[]> {
  const { paginateListObjectsV2 } = await import('@aws-sdk/client-s3');
  const key = keyOf(prefix, path, 'SOURCE');
  const found: { key: string; size: number }[] = [];
  const input = { Bucket: bucket, Prefix: key };
  for await (const page of paginateListObjectsV2({ client }, input, { abortSignal: context.signal })) {
    for (const { Key = '', Size = 0 } of page.Contents ?? []) {
      if (Key === key) return [{ key, size: Size }];
      const name = Key.slice(key.length + 1);
      if (Key.startsWith(`${key}/`) && !name.includes('/') && wanted(name))
        found.push({ key: Key, size: Size });
    }
    if (found.length > MAX_FILES)
      throw new EngineError('SOURCE', `The directory "${path}" has over ${MAX_FILES} files.`);
  }
  if (found.length === 0)
    throw new EngineError('SOURCE', `There is no file "${path}", and no directory with files of the format.`);
  return found;
}

/** Puts a file in place as one object, which is seen only when it is whole; returns its address. */
export function uploadObject(
  context: TaskContext,
  target: S3Target,
  path: string,
  file: string,
): Promise<string> {
  return withS3(target, 'TARGET', async (client) => {
    const { Upload } = await import('@aws-sdk/lib-storage');
    const key = keyOf(target.prefix, path, 'TARGET');
    const { size } = await stat(file);
    const upload = new Upload({
      client,
      params: { Bucket: target.bucket, Key: key, Body: createReadStream(file) },
      partSize: Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS)),
      queueSize: 2,
    });
    const onAbort = () => void upload.abort();
    context.signal.addEventListener('abort', onAbort, { once: true });
    try {
      await upload.done();
    } finally {
      context.signal.removeEventListener('abort', onAbort);
    }
    return `s3://${target.bucket}/${key}`;
  });
}

function keyOf(prefix: string, path: string, kind: EngineErrorKind): string {
  const plain = posix.normalize(path).replace(/\/+$/, '');
  if (
    plain === '..' ||
    plain.startsWith('../') ||
    plain.startsWith('/') ||
    path === '' ||
    path.includes('\0')
  ) {
    throw new EngineError(kind, `"${path}" is outside the connection's prefix.`);
  }
  return [prefix, plain === '.' ? '' : plain].filter(Boolean).join('/');
}

async function withS3<T>(
  target: S3Target,
  kind: EngineErrorKind,
  work: (client: S3Client) => Promise<T>,
): Promise<T> {
  const client = await openS3(target);
  try {
    return await work(client);
  } catch (error) {
    throw s3Error(error, kind);
  } finally {
    client.destroy();
  }
}

async function openS3(target: S3Target): Promise<S3Client> {
  const [{ S3Client }, { connectionLookup, mayBeAsked }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('../../integrations/connections/reachable-address.js'),
  ]);
  const { endpoint, allowPrivate, accessKeyId = '', secretAccessKey = '', sessionToken } = target;
  const url = endpoint === undefined ? undefined : new URL(endpoint);
  if (url && !mayBeAsked(url, allowPrivate)) {
    throw new EngineError(
      'CONNECTION',
      `${url.origin} may not be reached: it must be a public https address, or be listed in CONNECTION_ALLOWED_HOSTS.`,
    );
  }
  const agent = { lookup: connectionLookup(allowPrivate) };
  return new S3Client({
    region: target.region,
    ...(endpoint !== undefined && { endpoint }),
    ...(target.forcePathStyle !== undefined && { forcePathStyle: target.forcePathStyle }),
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    // A public bucket is read without a signature; the usual chain would look for credentials of this machine.
    ...(accessKeyId === '' && { signer: { sign: async (request) => request } }),
    maxAttempts: 3,
    // What compatible services do not know.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: IDLE_TIMEOUT_MS,
      socketTimeout: IDLE_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
}

const DENIED = /^(AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidToken)$/;

function s3Error(error: unknown, kind: EngineErrorKind): unknown {
  if (error instanceof EngineError || typeof error !== 'object' || error === null) return error;
  const { name, code, message, $metadata } = error as {
    name?: string;
    code?: unknown;
    message?: string;
    $metadata?: { httpStatusCode?: number };
  };
  if (code === 'PRIVATE_ADDRESS') return new EngineError('CONNECTION', `S3: ${message}`, { cause: error });
  const status = $metadata?.httpStatusCode;
  if (name === 'TimeoutError')
    return new EngineError('CONNECTION', `S3: ${message}`, { transient: true, cause: error });
  if (status === undefined) return error;
  const text = `S3: ${name}: ${message}`;
  if (status >= 500 || status === 429 || name === 'SlowDown')
    return new EngineError('CONNECTION', text, { transient: true, cause: error });
  const isRefused = DENIED.test(name ?? '') || status === 401 || status === 403;
  return new EngineError(isRefused ? 'CONNECTION' : kind, text, { cause: error });
}
