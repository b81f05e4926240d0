import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FileConnectionTarget } from '../../src/engines/engine.js';

export interface S3Fixture {
  target: Extract<FileConnectionTarget, { storage: 's3' }>;
  /** By key, without the bucket. */
  objects: Map<string, Buffer>;
  /** `PUT key?query` and the like, in the order they came. */
  requests: string[];
  /** Answers instead of the server while it is set. */
  fail: { current: ((request: string, response: ServerResponse) => boolean) | undefined };
  close(): Promise<void>;
}

const BUCKET = 'lake';

/** The part of the S3 protocol that files need, over HTTP on a loopback port; pages of two keys, so that paging shows. */
export async function startS3(): Promise<S3Fixture> {
  const objects: S3Fixture['objects'] = new Map();
  const uploads = new Map<string, Map<number, Buffer>>();
  const requests: string[] = [];
  const fail: S3Fixture['fail'] = { current: undefined };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://s3');
    const key = decodeURIComponent(url.pathname).slice(BUCKET.length + 2);
    const name = `${request.method} ${key}${url.search}`;
    requests.push(name);
    const body = await read(request);
    if (fail.current?.(name, response)) return;
    if (!request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 Credential=key/')) {
      return refuse(response, 403, 'InvalidAccessKeyId');
    }
    const uploadId = url.searchParams.get('uploadId') ?? '';
    const parts = uploads.get(uploadId);
    if (request.method === 'GET' && key === '') return list(url, response);
    if (request.method === 'GET') {
      const found = objects.get(key);
      return found ? void response.end(found) : refuse(response, 404, 'NoSuchKey');
    }
    if (request.method === 'POST' && url.searchParams.has('uploads')) {
      const id = randomUUID();
      uploads.set(id, new Map());
      return xml(
        response,
        `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
    }
    if (request.method === 'PUT' && parts) {
      parts.set(Number(url.searchParams.get('partNumber')), body);
      return void response.setHeader('etag', etag(body)).end();
    }
    if (request.method === 'POST' && parts) {
      const sorted = [...parts].sort(([a], [b]) => a - b);
      objects.set(key, Buffer.concat(sorted.map(([, part]) => part)));
      uploads.delete(uploadId);
      return xml(response, '<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>');
    }
    if (request.method === 'DELETE') {
      uploads.delete(uploadId);
      return void response.writeHead(204).end();
    }
    objects.set(key, body);
    response.setHeader('etag', etag(body)).end();
  }

  function list(url: URL, response: ServerResponse): void {
    const prefix = url.searchParams.get('prefix') ?? '';
    const after = url.searchParams.get('continuation-token') ?? '';
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const page = keys.slice(0, 2);
    const more = keys.length > page.length;
    const contents = page.map(
      (key) => `<Contents><Key>${key}</Key><Size>${objects.get(key)?.length}</Size></Contents>`,
    );
    const token = more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
    xml(
      response,
      `<ListBucketResult><IsTruncated>${more}</IsTruncated>${token}${contents.join('')}</ListBucketResult>`,
    );
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    target: {
      type: 'file',
      storage: 's3',
      bucket: BUCKET,
      prefix: 'base/dir',
      region: 'eu-central-1',
      endpoint: `http://127.0.0.1:${port}`,
      forcePathStyle: true,
      accessKeyId: 'key',
      secretAccessKey: 'secret',
      allowPrivate: true,
    },
    objects,
    requests,
    fail,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function etag(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}

function xml(response: ServerResponse, body: string): void {
  response.setHeader('content-type', 'application/xml').end(`<?xml version="1.0"?>${body}`);
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.statusCode = status;
  xml(response, `<Error><Code>${code}</Code><Message>refused</Message></Error>`);
}
