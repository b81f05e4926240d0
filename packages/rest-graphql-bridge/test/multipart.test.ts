import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { route, routes, type UploadedFile } from '../src/index.js';
import { document, type Library, library } from './support/library.js';
import { type Running, serve } from './support/server.js';

const Echo = document<{ echo: unknown }, { value?: unknown }>(
  'query Echo($value: JSON) { echo(value: $value) }',
);

describe('multipart rows', () => {
  let lib: Library;
  let running: Running;
  let received: (UploadedFile | undefined)[] = [];

  const describeFile = ({ file, body }: { file: UploadedFile | undefined; body: unknown }) => {
    received.push(file);
    const sha = file && createHash('sha256').update(readFileSync(file.path)).digest('hex');
    return { value: { ...file, path: undefined, sha, fields: { ...(body as object) } } };
  };
  const table = routes(import.meta.url, [
    route(Echo, {
      method: 'POST',
      path: '/covers',
      body: { type: 'multipart', limitBytes: 300_000 },
      variables: describeFile,
    }),
    route(Echo, {
      method: 'POST',
      path: '/optional',
      body: { type: 'multipart', fileField: 'cover', optional: true },
      variables: describeFile,
    }),
  ]);

  beforeAll(async () => {
    lib = library();
    running = await serve({ schema: lib.schema, tables: [table] });
  });
  afterAll(() => running.close());
  beforeEach(() => {
    received = [];
  });

  async function upload(path: string, form: FormData) {
    const response = await fetch(running.url + path, { method: 'POST', body: form });
    return { status: response.status, body: await response.json() };
  }

  /** Resolves once the file is gone. */
  async function untilGone(path: string): Promise<void> {
    for (;;) {
      try {
        await access(path);
        await new Promise((resolve) => setImmediate(resolve));
      } catch {
        return;
      }
    }
  }

  it('streams the file to disk, hands over fields, and cleans up after the response', async () => {
    const bytes = Buffer.alloc(250_000, 'solaris');
    const form = new FormData();
    form.set('title', 'Solaris');
    form.set('file', new Blob([bytes], { type: 'image/png' }), '../../etc/cover.png');
    const answer = await upload('/covers', form);
    expect(answer).toEqual({
      status: 200,
      body: {
        filename: 'cover.png',
        mimeType: 'image/png',
        sizeBytes: 250_000,
        sha: createHash('sha256').update(bytes).digest('hex'),
        fields: { title: 'Solaris' },
      },
    });
    await untilGone(received[0]?.path ?? '');
  });

  it('refuses a file over the limit and leaves nothing behind', async () => {
    const form = new FormData();
    form.set('file', new Blob([Buffer.alloc(2_000_000)]), 'big');
    expect(await upload('/covers', form)).toEqual({
      status: 413,
      body: { kind: 'body-too-large', limitBytes: 300_000 },
    });
    expect(received).toEqual([]);
  });

  it('names a missing, a second and an unexpected file', async () => {
    const none = new FormData();
    none.set('title', 'x');
    expect(await upload('/covers', none)).toMatchObject({
      status: 400,
      body: { problems: [{ field: 'file', constraint: 'isDefined' }] },
    });
    const two = new FormData();
    two.append('file', new Blob(['a']), 'a');
    two.append('file', new Blob(['b']), 'b');
    expect(await upload('/covers', two)).toMatchObject({
      status: 400,
      body: { problems: [{ field: 'file', constraint: 'isSingle' }] },
    });
    const other = new FormData();
    other.append('cover', new Blob(['a']), 'a');
    expect(await upload('/covers', other)).toMatchObject({
      status: 400,
      body: {
        problems: [
          { field: 'cover', constraint: 'whitelistValidation' },
          { field: 'file', constraint: 'isDefined' },
        ],
      },
    });
  });

  it('takes an optional file or none at all', async () => {
    const response = await fetch(`${running.url}/optional`, { method: 'POST' });
    expect([response.status, await response.json()]).toEqual([200, { fields: {} }]);
    const form = new FormData();
    form.set('cover', new Blob(['a']), 'a.txt');
    expect(await upload('/optional', form)).toMatchObject({
      status: 200,
      body: { filename: 'a.txt', sizeBytes: 1 },
    });
  });

  it('refuses another media type and a form that is none', async () => {
    const json = await fetch(`${running.url}/covers`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect(json.status).toBe(415);
    for (const [type, body] of [
      ['multipart/form-data', 'x'],
      [
        'multipart/form-data; boundary=b',
        '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\ncut',
      ],
    ] as const) {
      const broken = await fetch(`${running.url}/covers`, {
        method: 'POST',
        body,
        headers: { 'content-type': type },
      });
      expect([broken.status, await broken.json()]).toMatchObject([400, { kind: 'malformed-body' }]);
    }
  });

  it('survives a client that leaves in the middle', async () => {
    const socket = connect(running.port, '127.0.0.1');
    socket.write(
      'POST /covers HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 9000\r\n\r\n',
    );
    socket.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf');
    await once(socket, 'ready');
    socket.destroy();
    const form = new FormData();
    form.set('file', new Blob(['a']), 'a.txt');
    expect((await upload('/covers', form)).status).toBe(200);
  });
});
