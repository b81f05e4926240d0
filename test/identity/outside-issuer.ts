import { createServer, type RequestListener, type Server } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import { listen } from '../oidc/served-issuer.js';

export interface IssuerKey {
  kid: string;
  alg: string;
  privateKey: CryptoKey;
  publicJwk: JWK;
}

export async function newIssuerKey(kid: string, alg = 'RS256'): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** An issuer somebody else runs: discovery and keys over HTTP, which can rotate, fail and go away. */
export class OutsideIssuer {
  readonly server: Server;
  origin = '';
  requests: string[] = [];
  failing = false;
  keysPath = '/keys';
  keys: IssuerKey[] = [];
  /** Answers instead, when it is set. */
  instead: RequestListener | undefined;
  readonly #home: { workspaceId: string };

  /** @param home whose workspace its tokens name */
  constructor(home: { workspaceId: string }) {
    this.#home = home;
    this.server = createServer((request, response) => {
      this.requests.push(`${request.url}`);
      if (this.failing) return response.writeHead(500).end();
      if (this.instead) return this.instead(request, response);
      const body = this.#documents()[`${request.url}`];
      if (body === undefined) return response.writeHead(404).end();
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  }

  async start(): Promise<this> {
    await this.rotate('first');
    this.origin = await listen(this.server);
    return this;
  }

  get discoveryUrl(): string {
    return `${this.origin}/.well-known/openid-configuration`;
  }

  async rotate(kid: string): Promise<void> {
    this.keys = [await newIssuerKey(kid)];
  }

  get claims(): JWTPayload {
    const now = Math.floor(Date.now() / 1_000);
    return {
      iss: this.origin,
      aud: 'opsgraph',
      sub: 'user-1',
      iat: now,
      exp: now + 300,
      email: 'ann@acme.test',
      realm_access: { roles: ['ANALYST', 'offline_access', 'ENGINEER'] },
      workspace_id: this.#home.workspaceId,
    };
  }

  sign(
    claims: JWTPayload = {},
    privateKey = this.keys[0]?.privateKey,
    kid: string | null | undefined = this.keys[0]?.kid,
    alg = this.keys[0]?.alg ?? 'RS256',
  ): Promise<string> {
    if (!privateKey || kid === undefined) throw new Error('start() first');
    return new SignJWT({ ...this.claims, ...claims })
      .setProtectedHeader(kid === null ? { alg } : { alg, kid })
      .sign(privateKey);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #documents(): Record<string, object> {
    return {
      '/.well-known/openid-configuration': {
        issuer: this.origin,
        jwks_uri: `${this.origin}${this.keysPath}`,
      },
      [this.keysPath]: { keys: this.keys.map(({ publicJwk }) => publicJwk) },
    };
  }
}
