/** How one organization is known to one outside login provider, its secret opened. */
export interface SsoConnection {
  id: string;
  /** Changes whenever anything here does. */
  version: string;
  /** OIDC: issuer URL. SAML: entity id of the identity provider. */
  issuer: string;
  clientId: string | null;
  clientSecret: string | null;
  scopes: readonly string[];
  /** SAML: where requests are sent. */
  entryPoint: string | null;
  /** SAML: PEM certificates. */
  certificates: readonly string[];
  /** Where the provider sends the browser back to; no other connection has the same. */
  callbackUrl: string;
  /** SAML: what we are called, and the address of our metadata. */
  entityId: string;
}

/** What one login was begun with. */
export interface SsoAttempt {
  /** Comes back as `state` or `RelayState`. */
  state: string;
  /** OIDC: `nonce`. SAML: id of the request. */
  nonce: string;
  /** OIDC: our PKCE. */
  codeVerifier: string;
}

/** Who the provider says it is. */
export interface SsoProfile {
  /** Never given to somebody else by this issuer. */
  subject: string;
  /** In lower case. */
  email: string | undefined;
  /** Whether the provider vouches that the address is this person's; undefined when it says nothing about it. */
  emailVerified: boolean | undefined;
  name: string | undefined;
  claims: Readonly<Record<string, unknown>>;
}

/** A way of logging in with somebody else's help. */
export interface SsoProtocol {
  /** Where to send the browser. @throws SERVICE_UNAVAILABLE while the provider can't be asked */
  begin(connection: SsoConnection, attempt: SsoAttempt): Promise<URL>;
  /**
   * What the browser brought back, checked.
   * @throws AUTHENTICATION_ERROR for anything that is not this provider's answer to this attempt,
   *   SERVICE_UNAVAILABLE while the provider can't be asked
   */
  finish(
    connection: SsoConnection,
    attempt: SsoAttempt,
    answer: Readonly<Record<string, string>>,
  ): Promise<SsoProfile>;
}

export interface SingleSignOn {
  oidc: SsoProtocol;
  saml: SsoProtocol & {
    /** Our side as SAML metadata (XML), for the provider's administrator. */
    metadata(connection: Pick<SsoConnection, 'callbackUrl' | 'entityId'>): string;
  };
  /** Why a provider's address is not taken: `isHttps`, `isPublicHost`. */
  problemOf(url: URL): 'isHttps' | 'isPublicHost' | undefined;
  close(): Promise<void>;
}
