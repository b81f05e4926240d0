import { TOTP } from 'otpauth';
import { DEMO_PASSWORD } from '../../src/domain/identity/index.js';
import type { TestApp } from '../support/app.js';
import { type Answer, type Call, caller } from '../support/rest.js';

const STEP_MS = 30_000;

/** A clock for the server that a test moves on, so that it need not wait 30 s for the next code. */
export class Clock {
  offsetMs = 0;
  readonly now = (): Date => new Date(Date.now() + this.offsetMs);
  nextStep(): void {
    this.offsetMs += STEP_MS;
  }
}

/** Nobody has a second factor any more, or is locked. */
export async function forgetFactors({ database }: TestApp): Promise<void> {
  for (const table of ['login_guard', 'totp_factor', 'backup_code', 'mfa_setup', 'mfa_challenge'])
    await database.orm.em.execute(`delete from ${table}`);
}

/** Somebody with an authenticator app, over REST. */
export class Person {
  readonly #app: TestApp;
  readonly #clock: Clock;
  readonly email: string;
  secret = '';
  backupCodes: string[] = [];

  constructor(app: TestApp, clock: Clock, email: string) {
    this.#app = app;
    this.#clock = clock;
    this.email = email;
  }

  get anonymous(): Call {
    return caller(this.#app.url);
  }

  logIn(password = DEMO_PASSWORD): Promise<Answer> {
    return this.anonymous('POST', '/v1/auth/login', { email: this.email, password });
  }

  /** Of the present 30 s, moved by so many. */
  code(steps = 0): string {
    const totp = new TOTP({ secret: this.secret, algorithm: 'SHA1', digits: 6, period: 30 });
    return totp.generate({ timestamp: this.#clock.now().getTime() + steps * STEP_MS });
  }

  /** One that is right in no step the server looks at. */
  wrongCode(): string {
    const right = [-1, 0, 1].map((steps) => this.code(steps));
    return ['000000', '111111', '222222', '333333'].find((code) => !right.includes(code)) ?? '';
  }

  verify(mfaToken: string, answer: object): Promise<Answer> {
    return this.anonymous('POST', '/v1/auth/mfa/verify', { mfaToken, ...answer });
  }

  async mfaToken(): Promise<string> {
    const { body } = await this.logIn();
    return body.mfaToken;
  }

  /** With tokens got by whatever is set up. */
  async authenticated(): Promise<Call> {
    let { status, body } = await this.logIn();
    if (status === 202) {
      this.#clock.nextStep();
      ({ status, body } = await this.verify(body.mfaToken, { method: 'totp', code: this.code() }));
    }
    if (status !== 200) throw new Error(`login answered ${status} ${JSON.stringify(body)}`);
    return caller(this.#app.url, { authorization: `Bearer ${body.accessToken}` });
  }

  async setUpTotp(call?: Call): Promise<void> {
    const me = call ?? (await this.authenticated());
    const { body: offer } = await me('POST', '/v1/auth/mfa/setup', { method: 'totp' });
    this.secret = offer.secret;
    const confirmed = await me('POST', '/v1/auth/mfa/setup/confirm', { method: 'totp', code: this.code() });
    this.backupCodes = confirmed.body.backupCodes;
    this.#clock.nextStep();
  }
}
