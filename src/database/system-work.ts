/**
 * Everything that sees all tenants, by source file, and why it must. A request has `context.em`, which sees its own
 * organization; `services.orm` sees all of them, and what is not named here may not touch it
 * (test/isolation/system-work.test.ts). Beside these, a public root field is given a context that sees all tenants.
 */
export const systemWork: Readonly<Record<string, string>> = {
  'src/context.ts': 'gives public root fields their context: asSystem()',

  // Who is it? Asked before there is a tenant.
  'src/domain/identity/api-keys/api-key-use.ts': 'remembers the last use of keys, gathered over all tenants',
  'src/domain/identity/api-keys/verify-api-key.ts': 'a key is found by its hash',
  'src/domain/identity/cross-tenant.ts': 'a super_admin names an organization by its slug',
  'src/domain/identity/device-fingerprint.ts': 'a token is checked before it counts as a caller',
  'src/domain/identity/links/identity-links.ts': 'a subject is found before its user is known',
  'src/domain/identity/login-guard.ts': 'failed logins of addresses nobody has are counted as well',
  'src/domain/identity/mfa/check-factor.ts': 'a second factor is part of a login',
  'src/domain/identity/mfa/start-challenge.ts': 'a second factor is part of a login',
  'src/domain/identity/mfa/verify-mfa.ts': 'a challenge is found by its token',
  'src/domain/identity/open-session.ts': 'the end of a login, whichever way it came',
  'src/domain/identity/passwords.ts': 'a link is found by its token',
  'src/domain/identity/platform-tokens.ts': 'a token names a workspace, which names the organization',
  'src/domain/identity/prove-identity.ts': 'the issuer asks for a password, too',
  'src/domain/identity/require-tenant.ts': 'an organization is named by its slug',
  'src/domain/identity/session-use.ts': 'remembers the last use of sessions, gathered over all tenants',
  'src/domain/identity/verify-credentials.ts': 'a login names an address and no tenant',
  'src/domain/identity/sso/exchange-sso-code.ts': 'a code is found by its hash',
  'src/domain/identity/sso/find-provider.ts': 'a login by a provider names an organization by its slug',
  'src/domain/identity/sso/finish-sso.ts': 'a login under way is found by its state',
  'src/domain/identity/sso/sso-metadata.ts': 'metadata are public',
  'src/domain/identity/sso/start-sso.ts': 'a login by a provider names an organization by its slug',
  'src/oidc/query.ts': 'the issuer: clients, codes and users before they are known',

  // The installation's own.
  'src/domain/identity/revocations.ts': 'every node knows what was revoked, of all tenants',
  'src/domain/identity/signing-keys.ts': 'one set of keys for the installation',
  'src/domain/identity/sweep-expired.ts': 'removes what has expired, of all tenants',
  'src/domain/events/sweep-events.ts': 'removes events that are past their time, of all tenants',
  'src/domain/webhooks/sweep-deliveries.ts': 'removes deliveries that are past their time, of all tenants',
  'src/domain/idempotency/sweep-answers.ts': 'removes kept answers that are past their time, of all tenants',
  'src/domain/identity/seed-demo.ts': 'makes the tenants',
  'src/domain/demo/seed-connections.ts': 'a connection for each demo tenant',

  // Jobs and feeds, whose rows name their tenant.
  'src/events/event-feed.ts': 'one reader per node; each subscription is bound to its organization',
  'src/domain/connections/connection-target.ts': "a run's connection, by the run's own workspace",
  'src/domain/identity/account-mails.ts':
    "a mail is written by a worker, for an address that may be nobody's",
  'src/domain/mail/deliver-mail.ts': 'a mail is sent by a worker',
  'src/domain/runs/execute-run.ts': 'a worker takes up whatever run is due',
  'src/domain/webhooks/fail-delivery.ts': 'a worker counts the failures of whatever webhook',
  'src/domain/lineage/emit-run-events.ts': 'a worker says what became of whatever run',
  'src/domain/lineage/post-events.ts': 'posts the events of all tenants, to where the operator says',
  'src/domain/runs/sweep-run-history.ts': 'forgets old runs of all organizations',
  'src/domain/runs/sweep-runs.ts': 'finds the runs that no worker holds',
};
