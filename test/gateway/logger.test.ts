import { describe, expect, it } from '@jest/globals';
import { AppError } from '../../src/errors.js';
import { captureLog } from './gateway-server.js';

const SECRET = 'hunter2-hunter2';

describe('the log', () => {
  it('hides what stands under a secret name, at every depth and in every spelling', () => {
    const { log, lines } = captureLog();
    log.info(
      {
        authorization: SECRET,
        body: {
          Password: SECRET,
          nested: { list: [{ client_secret: SECRET, deep: { 'X-API-Key': SECRET } }] },
        },
        headers: { Cookie: SECRET, 'set-cookie': [SECRET], 'Proxy-Authorization': SECRET },
        credentials: { user: 'a', password: SECRET },
        refreshToken: SECRET,
        name: 'kept',
      },
      'message',
    );
    expect(JSON.stringify(lines)).not.toContain(SECRET);
    expect(lines[0]).toMatchObject({
      name: 'kept',
      authorization: '[redacted]',
      body: { Password: '[redacted]', nested: { list: [{ client_secret: '[redacted]' }] } },
      msg: 'message',
      level: 'info',
    });
  });

  it('hides secrets bound to a child and those in an error, its details and its cause', () => {
    const { log, lines } = captureLog();
    const cause = Object.assign(new Error(`postgres://owner:${SECRET}@db:5432/x refused`), {
      password: SECRET,
    });
    const error = new AppError('INTERNAL_ERROR', 'failed', { cause, details: { token: SECRET } });
    log.child({ token: SECRET, requestId: 'req_1' }).error({ err: error }, 'failed');
    log.error(error);
    expect(JSON.stringify(lines)).not.toContain(SECRET);
    expect(lines[0]).toMatchObject({
      requestId: 'req_1',
      token: '[redacted]',
      err: { type: 'AppError', message: 'failed', code: 'INTERNAL_ERROR', stack: expect.any(String) },
    });
    expect(JSON.stringify(lines[0])).toContain('postgres://owner:[redacted]@db:5432/x refused');
    expect(lines[1]).toMatchObject({ err: { message: 'failed' } });
  });

  it('hides tokens in free text', () => {
    const { log, lines } = captureLog();
    const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ1c3JfMSJ9.c2lnbmF0dXJl';
    log.info(
      { text: `sent Bearer ${SECRET}`, url: new URL(`https://a:${SECRET}@b.test/`) },
      `got ${jwt} and whsec_${SECRET}`,
    );
    expect(JSON.stringify(lines)).not.toContain(SECRET);
    expect(JSON.stringify(lines)).not.toContain('eyJzdWIi');
    expect(lines[0]).toMatchObject({
      text: 'sent Bearer [redacted]',
      msg: 'got [redacted] and whsec_[redacted]',
    });
  });

  it('survives what JSON does not take: cycles, big integers, buffers', () => {
    const { log, lines } = captureLog();
    const cycle: Record<string, unknown> = { big: 10n, bytes: Buffer.from('abc'), when: new Date(0) };
    cycle['self'] = cycle;
    log.info({ cycle }, 'odd');
    expect(lines[0]).toMatchObject({
      msg: 'odd',
      cycle: { bytes: '[3 bytes]', when: '1970-01-01T00:00:00.000Z' },
    });
  });

  it('is silent below its level', () => {
    const { log, lines } = captureLog('warn');
    log.info('no');
    log.warn('yes');
    expect(lines).toHaveLength(1);
  });
});
