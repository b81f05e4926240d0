import { recordAudit } from '../../src/domain/audit/index.js';
import { OidcClient } from '../../src/entities/identity/oidc-client.js';
import { SsoProvider } from '../../src/entities/identity/sso-provider.js';
import { Team } from '../../src/entities/identity/team.js';
import { UserRole } from '../../src/entities/identity/user.js';
import { newId, newUuid } from '../../src/entities/ids.js';
import { type LifecycleStage, Pipeline } from '../../src/entities/pipelines/pipeline.js';
import { clientCredential } from '../support/credentials.js';
import { type Actor, insertSession, insertUser } from './houses.js';
import { created, pipelineBody, startedRun, yamlDefinition } from './run-fixtures.js';
import { deliveryOf, recordedEvent, UNRESOLVABLE } from './webhook-fixtures.js';

/** What an id in an operation may point at. */
export interface Kind {
  /** Whose it is: a workspace's is refused to another workspace of the organization (403) instead of absent (404). */
  readonly owner: 'organization' | 'workspace';
  /** A new one in the actor's house. */
  make(actor: Actor): Promise<string>;
  /** An id of the right form that nothing has. */
  absent(): string;
}

/** One line per kind of thing that ids point at. The name is that of the GraphQL type, with a small first letter. */
export const kinds = {
  ticket: {
    owner: 'organization',
    make: (actor) => created(actor.asItsm('POST', '/v1/tickets', { title: actor.house.marker })),
    absent: () => newId('tkt'),
  },
  user: {
    owner: 'organization',
    make: async ({ houses, house }) => (await insertUser(houses, house, UserRole.end_user)).id,
    absent: () => newId('usr'),
  },
  team: { owner: 'organization', make: insertTeam, absent: () => newId('team') },
  session: {
    owner: 'organization',
    make: ({ houses, house, userId }) => insertSession(houses, house, userId),
    absent: () => newId('ses'),
  },
  apiKey: {
    owner: 'organization',
    make: (actor) =>
      created(
        actor.asItsm('POST', '/v1/api-keys', { name: actor.house.marker, permissions: ['tickets:read:own'] }),
      ),
    absent: () => newId('key'),
  },
  userIdentity: {
    owner: 'organization',
    make: async (actor) => {
      const platformToken = await newPlatformToken(actor);
      return created(actor.asItsm('POST', '/v1/auth/identities/link', { platformToken }));
    },
    absent: () => newId('idn'),
  },
  ssoProvider: {
    owner: 'organization',
    make: async (actor) => {
      await removeProviders(actor);
      return created(actor.asItsm('POST', '/v1/sso-providers', providerBody(actor)));
    },
    absent: () => newId('sso'),
  },
  event: { owner: 'organization', make: recordedEvent, absent: () => newId('evt') },
  webhook: {
    owner: 'organization',
    make: async (actor) => (await deliveryOf(actor)).webhookId,
    absent: () => newId('whk'),
  },
  webhookDelivery: {
    owner: 'organization',
    make: async (actor) => (await deliveryOf(actor)).id,
    absent: () => newId('dlv'),
  },
  connection: {
    owner: 'workspace',
    make: (actor) => created(actor.asPlatform('POST', '/api/v1/connections', connectionBody(actor))),
    absent: newUuid,
  },
  pipeline: {
    owner: 'workspace',
    make: (actor) => created(actor.asPlatform('POST', '/api/v1/pipelines', pipelineBody(actor))),
    absent: newUuid,
  },
  activePipeline: { owner: 'workspace', make: (actor) => pipelineAt(actor, 'ACTIVE'), absent: newUuid },
  deprecatedPipeline: {
    owner: 'workspace',
    make: (actor) => pipelineAt(actor, 'DEPRECATED'),
    absent: newUuid,
  },
  run: { owner: 'workspace', make: startedRun, absent: newUuid },
  cancelledRun: {
    owner: 'workspace',
    make: async (actor): Promise<string> => {
      const runId = await startedRun(actor);
      await actor.asPlatform('POST', `/api/v1/runs/${runId}/cancel`);
      return runId;
    },
    absent: newUuid,
  },
  workspace: { owner: 'workspace', make: async ({ house }) => house.workspaceId, absent: newUuid },
} satisfies Record<string, Kind>;

export type KindName = keyof typeof kinds;

/** Ids whose argument says neither by its own name nor by what the field returns what they point at: by coordinate or name. */
export const pointsAt: Readonly<Record<string, KindName>> = {
  'Mutation.testWebhook.id': 'webhook',
  'Mutation.redeliverWebhook.id': 'webhook',
  'Mutation.testConnection.id': 'connection',
  'Query.connectionSchema.id': 'connection',
  deliveryId: 'webhookDelivery',
  'Mutation.retryRun.runId': 'cancelledRun',
  'Mutation.deprecatePipeline.id': 'activePipeline',
  'Mutation.retirePipeline.id': 'deprecatedPipeline',
  requesterId: 'user',
  assigneeId: 'user',
  memberIds: 'user',
  'Mutation.unlinkIdentity.id': 'userIdentity',
};

/** Named like ids without being any. */
export const noReferences: ReadonlySet<string> = new Set([
  'CreateSsoProviderInput.clientId',
  'UpdateSsoProviderInput.clientId',
  // The name a definition gives it.
  'Query.runLogs.taskId',
]);

/** Rows that operations show but no id points at: made once in each house before the first operation. */
export const seeds: readonly ((actor: Actor) => Promise<void>)[] = [
  ({ houses, house, userId }) =>
    recordAudit(houses.em(), {
      organizationId: house.organizationId,
      actor: { type: 'user', id: userId },
      action: 'auth.login_failed',
      resource: { type: 'user', id: userId },
      after: { note: house.marker },
    }),
];

/** Values without which an operation does not succeed. What is not here is made from its type. */
export const values: Readonly<Record<string, (actor: Actor) => unknown>> = {
  // A cursor into somebody's sessions is one of theirs.
  'Query.userSessions.userId': ({ userId }) => userId,
  'LoginInput.email': ({ email }) => email,
  'LoginInput.password': () => 'opsgraph-demo',
  'RefreshInput.refreshToken': async ({ houses, email }) => {
    const body = { email, password: 'opsgraph-demo' };
    const { refreshToken } = (await (await login(houses.app.url, body)).json()) as { refreshToken: string };
    return refreshToken;
  },
  'CreateApiKeyInput.permissions': () => ['tickets:read:own'],
  'UpdateApiKeyInput.permissions': () => ['tickets:read:own'],
  'RevokeTokenInput.token': async ({ houses, house }) => bearerOf((await houses.actor(house)).itsm),
  'CreateSsoProviderInput.provider': async (actor) => {
    await removeProviders(actor);
    return providerBody(actor).provider;
  },
  'CreateSsoProviderInput.name': (actor) => providerBody(actor).name,
  'CreateSsoProviderInput.issuer': (actor) => providerBody(actor).issuer,
  'CreateSsoProviderInput.clientId': (actor) => providerBody(actor).clientId,
  'LinkIdentityInput.platformToken': newPlatformToken,
  'CreateApiKeyInput.expiresAt': () => '2999-01-01T00:00:00.000Z',
  'UpdateApiKeyInput.expiresAt': () => '2999-01-01T00:00:00.000Z',
  'RefreshInput.deviceFingerprint': () => null,
  'ChangePasswordInput.current': () => 'opsgraph-demo',
  'ForgotPasswordInput.email': ({ email }) => email,
  'CreateUserInput.email': () => `${newUuid()}@example.test`,
  'UpdateUserInput.email': () => `${newUuid()}@example.test`,
  'CreateWebhookInput.url': () => UNRESOLVABLE,
  'CreateWebhookInput.events': () => ['*'],
  'CreatePipelineInput.yamlDefinition': () => yamlDefinition,
  'CreateConnectionInput.type': (actor) => connectionBody(actor).type,
  'CreateConnectionInput.config': (actor) => connectionBody(actor).config,
  'CreateConnectionInput.credentials': () => null,
  'UpdateConnectionInput.name': (actor) => connectionBody(actor).name,
  'UpdateConnectionInput.type': (actor) => connectionBody(actor).type,
  'UpdateConnectionInput.config': (actor) => connectionBody(actor).config,
  'UpdateConnectionInput.credentials': () => ({}),
};

/**
 * Operations that are let in by a secret of their own or need a second step outside of them, and take no id: there is
 * nothing foreign to name, and they are not tried.
 */
export const bySecret: Readonly<Record<string, string>> = {
  'Mutation.verifyMfa': 'takes the token of a challenge',
  'POST /v1/auth/mfa/verify': 'takes the token of a challenge',
  'Mutation.exchangeSsoCode': 'takes the code a login ended with',
  'POST /v1/auth/sso/token': 'takes the code a login ended with',
  'Mutation.resetPassword': 'takes the token of a link',
  'POST /v1/auth/password/reset': 'takes the token of a link',
  'Mutation.confirmMfa': "takes a code of the caller's own authenticator",
  'POST /v1/auth/mfa/setup/confirm': "takes a code of the caller's own authenticator",
  'Mutation.regenerateBackupCodes': "the caller's own, once a factor is confirmed",
  'POST /v1/auth/mfa/backup-codes': "the caller's own, once a factor is confirmed",
  'Mutation.removeMfa': "the caller's own, once a factor is confirmed",
  'DELETE /v1/auth/mfa/:method': "the caller's own, once a factor is confirmed",
};

/** Lists whose rows no fixture of this table makes. */
export const emptyLists: Readonly<Record<string, string>> = {};

function login(url: string, body: object) {
  return fetch(`${url}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function pipelineAt(actor: Actor, lifecycleStage: LifecycleStage): Promise<string> {
  const id = await kinds.pipeline.make(actor);
  const em = actor.houses.app.services.orm.em.fork();
  await em.nativeUpdate(Pipeline, { id }, { lifecycleStage }, { filters: false });
  return id;
}

function connectionBody({ house }: Actor) {
  return {
    name: `${house.marker} ${newUuid()}`,
    type: 'file',
    config: { storage: 'local', root: '.' },
  };
}

function bearerOf({ authorization }: Record<string, string>): string {
  return `${authorization}`.slice('Bearer '.length);
}

/** Of a subject that is linked to nobody yet. */
async function newPlatformToken({ houses, house }: Actor): Promise<string> {
  const clientId = `subject-${newUuid()}`;
  await houses.em().insert(OidcClient, {
    clientId,
    kind: 'confidential',
    sealedSecret: houses.app.services.secrets.seal('opsgraph-demo'),
    redirectUris: [],
    roles: ['VIEWER'],
    workspaceId: house.workspaceId,
    createdAt: new Date(),
  });
  return bearerOf(await clientCredential(houses.app.url, clientId));
}

function providerBody({ house }: Actor) {
  return {
    provider: 'oidc',
    name: house.marker,
    issuer: 'https://login.example.com',
    clientId: 'opsgraph',
  };
}

/** An organization has one provider of each kind. */
async function removeProviders({ houses, house: { organizationId } }: Actor): Promise<void> {
  await houses.em().nativeDelete(SsoProvider, { organizationId }, { filters: false });
}

async function insertTeam({ houses, house }: Actor): Promise<string> {
  const id = newId('team');
  const { organizationId, marker } = house;
  await houses.em().insert(Team, { id, organizationId, name: `${marker} ${id}`, createdAt: new Date() });
  return id;
}

/** A new one of a kind, remembered as belonging to the actor's house. */
export async function make(kind: KindName, actor: Actor): Promise<string> {
  const id = await kinds[kind].make(actor);
  actor.house.made[kinds[kind].owner].add(id);
  return id;
}

/** One of everything there is, in the actor's house. */
export async function furnish(actor: Actor): Promise<void> {
  for (const kind of Object.keys(kinds) as KindName[]) await make(kind, actor);
  for (const seed of seeds) await seed(actor);
}
