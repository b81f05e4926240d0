import { createHmac, timingSafeEqual } from 'node:crypto';
import express, { type Request, type Response, Router } from 'express';
import type Provider from 'oidc-provider';
import { errors, type Interaction } from 'oidc-provider';
import type { RequestClient, Services } from '../context.js';
import { proveIdentity, proveSecondFactor } from '../domain/identity/index.js';
import { AppError, errorStatus } from '../errors.js';
import { requestIdOf } from '../gateway/request-record.js';
import { codePage, consentPage, loginPage, type Page } from './pages.js';

const FORM_LIMIT = '16kb';

/**
 * The pages where a person logs in and consents. They belong to one browser by the issuer's signed, same-site cookie,
 * and every form carries a token derived from the interaction it was made for.
 */
export function interactionRoutes(options: {
  services: Pick<Services, 'orm' | 'secrets' | 'now' | 'config' | 'log'>;
  issuer: string;
  provider: () => Provider;
  clientOf(request: Request, response: Response): RequestClient;
}): Router {
  const { services, provider, clientOf } = options;
  const { pathname } = new URL(options.issuer);
  const key = services.secrets.deriveKey('oidc interaction forms');
  const csrfOf = (uid: string) => createHmac('sha256', key).update(uid).digest('base64url');

  const formOf = ({ uid, params }: Interaction) => ({
    action: `${pathname}/interaction/${uid}`,
    csrf: csrfOf(uid),
    clientId: String(params['client_id']),
    redirectUri: String(params['redirect_uri']),
  });

  /** @throws SessionNotFound when the browser is not the one the interaction began in. */
  async function interactionOf(request: Request, response: Response): Promise<Interaction> {
    const interaction = await provider().interactionDetails(request, response);
    if (interaction.uid !== request.params['uid']) throw new errors.SessionNotFound('interaction mismatch');
    if (request.method === 'POST' && !isSame(field(request, 'csrf'), csrfOf(interaction.uid)))
      throw new errors.InvalidRequest('the form has expired');
    return interaction;
  }

  const attempt = (request: Request, response: Response) => ({
    services,
    requestId: requestIdOf(request),
    client: clientOf(request, response),
  });

  async function finish(request: Request, response: Response, accountId: string): Promise<void> {
    await provider().interactionFinished(request, response, { login: { accountId, remember: false } });
  }

  const router = Router();
  // Only here: the issuer reads the bodies of its own endpoints itself.
  router.use('/interaction', express.urlencoded({ extended: false, limit: FORM_LIMIT }));

  router.get('/interaction/:uid', async (request, response) => {
    const interaction = await interactionOf(request, response);
    const form = formOf(interaction);
    if (interaction.prompt.name === 'login') return send(response, loginPage(form));
    send(
      response,
      consentPage(
        form,
        String(interaction.params['scope'] ?? '')
          .split(' ')
          .filter(Boolean),
      ),
    );
  });

  router.post('/interaction/:uid/login', async (request, response) => {
    const interaction = await interactionOf(request, response);
    const email = field(request, 'email');
    try {
      const context = attempt(request, response);
      await context.client.countAttempt('login', email.toLowerCase());
      const proof = await proveIdentity(context, email, field(request, 'password'));
      if ('user' in proof) return await finish(request, response, proof.user.id);
      send(response, codePage(formOf(interaction), proof.mfaToken));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      send(
        response.status(errorStatus(error.code)),
        loginPage(formOf(interaction), { email, message: error.message }),
      );
    }
  });

  router.post('/interaction/:uid/mfa', async (request, response) => {
    const interaction = await interactionOf(request, response);
    const mfaToken = field(request, 'mfaToken');
    try {
      const code = field(request, 'code');
      const { user } = await proveSecondFactor(attempt(request, response), { mfaToken, code });
      await finish(request, response, user.id);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const form = formOf(interaction);
      const over = error.code === 'TOKEN_INVALID' || error.code === 'ACCOUNT_LOCKED';
      const page = over
        ? loginPage(form, { email: '', message: 'Log in again, please' })
        : codePage(form, mfaToken, error.message);
      send(response.status(errorStatus(error.code)), page);
    }
  });

  router.post('/interaction/:uid/consent', async (request, response) => {
    const { grantId, params, session, prompt } = await interactionOf(request, response);
    if (prompt.name !== 'consent' || !session) throw new errors.InvalidRequest('log in first');
    const { Grant } = provider();
    const clientId = String(params['client_id']);
    const known = grantId === undefined ? undefined : await Grant.find(grantId);
    const grant = known ?? new Grant({ accountId: session.accountId, clientId });
    grant.addOIDCScope(String(params['scope'] ?? ''));
    const consent = { grantId: await grant.save() };
    await provider().interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
  });

  router.post('/interaction/:uid/abort', async (request, response) => {
    await interactionOf(request, response);
    const refused = { error: 'access_denied', error_description: 'The user refused' };
    await provider().interactionFinished(request, response, refused, { mergeWithLastSubmission: false });
  });

  return router;
}

function field(request: Request, name: string): string {
  const value: unknown = request.body?.[name];
  return typeof value === 'string' ? value : '';
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function send(response: Response, { html, headers }: Page): void {
  response.set(headers).send(html);
}
