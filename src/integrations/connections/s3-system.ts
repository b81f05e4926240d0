import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { S3Client } from '@aws-sdk/client-s3';
import type { FileConnectionTarget } from '../../engines/engine.js';
import { MAX_TABLES } from './discovered-schema.js';
import { type FoundFile, type FoundFiles, formatOf } from './file-system.js';
import { connectionLookup } from './reachable-address.js';

type S3 = Extract<FileConnectionTarget, { storage: 's3' }>;

export function probeS3(target: S3, signal: AbortSignal): Promise<string> {
  return withClient(target, async (client) => {
    await list(client, target, 1, signal);
    return 'The bucket can be listed.';
  });
}

/** Objects of a format that sources read, among the first 1,000 of the prefix. */
export function findS3(target: S3, signal: AbortSignal): Promise<FoundFiles> {
  return withClient(target, async (client) => {
    const { Contents: objects = [], IsTruncated } = await list(client, target, MAX_TABLES, signal);
    const files = objects.flatMap(({ Key: key = '', Size: bytes = 0 }): FoundFile[] => {
      const format = formatOf(key);
      return format ? [{ path: key.slice(base(target).length), format, bytes }] : [];
    });
    return { files, truncated: IsTruncated === true };
  });
}

const base = ({ prefix }: S3) => (prefix === '' ? '' : `${prefix}/`);

async function list(client: S3Client, target: S3, count: number, signal: AbortSignal) {
  const { ListObjectsV2Command } = await import('@aws-sdk/client-s3');
  const command = new ListObjectsV2Command({ Bucket: target.bucket, Prefix: base(target), MaxKeys: count });
  return client.send(command, { abortSignal: signal });
}

async function withClient<T>(target: S3, work: (client: S3Client) => Promise<T>): Promise<T> {
  const { S3Client } = await import('@aws-sdk/client-s3');
  const { region, endpoint, forcePathStyle, accessKeyId, secretAccessKey, sessionToken } = target;
  const lookup = connectionLookup(target.allowPrivate);
  const isSigned = accessKeyId !== undefined && secretAccessKey !== undefined;
  const client = new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint }),
    ...(forcePathStyle !== undefined && { forcePathStyle }),
    credentials: isSigned
      ? { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) }
      : { accessKeyId: '', secretAccessKey: '' },
    // Without credentials the SDK would look for those of this server, which are nobody's to lend.
    ...(!isSigned && { signer: { sign: async (request) => request } }),
    maxAttempts: 1,
    followRegionRedirects: false,
    requestHandler: { httpAgent: new HttpAgent({ lookup }), httpsAgent: new HttpsAgent({ lookup }) },
  });
  try {
    return await work(client);
  } finally {
    client.destroy();
  }
}
