/** Who may import whom: docs/architecture.md has the same table in words. */
const areas = 'audit|identity|mail|tickets|connections|pipelines|runs|lineage|webhooks|events|idempotency';

const only = (name, from, allowed, comment) => ({
  name,
  severity: 'error',
  comment,
  from: { path: from },
  to: { path: '^(src|packages)/', pathNot: [from, ...allowed] },
});

const nouns = ['^src/errors\\.ts$', '^src/context\\.ts$'];
const ofProcesses = ['^src/(bounded-process|compiled-module|nice-session|outlive-signals)\\.ts$'];

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'bridge-knows-no-domain',
      severity: 'error',
      from: { path: '^packages/rest-graphql-bridge/src/' },
      to: { path: '^src/' },
    },
    only('inbound', '^src/rest/inbound/', [...nouns, '^src/rest/', '^src/domain/[^/]+/index\\.ts$']),
    only('rest', '^src/rest/(?!inbound/)', [
      '^src/rest/',
      ...nouns,
      '^packages/rest-graphql-bridge/',
      '^src/describe-failure\\.ts$',
      '^src/masking/',
    ]),
    only('gateway', '^src/gateway/', [
      ...nouns,
      '^src/domain/identity/',
      '^src/describe-failure\\.ts$',
      '^src/entities/ids\\.ts$',
      '^src/masking/',
    ]),
    only('events', '^src/events/', [...nouns, '^src/entities/', '^src/database/']),
    only('resolvers', '^src/resolvers/', [...nouns, '^src/domain/', '^src/entities/']),
    only('entities', '^src/entities/', ['^src/errors\\.ts$']),
    only('jobs', '^src/jobs/', [
      ...nouns,
      '^src/domain/',
      '^src/events/',
      '^src/entities/ids\\.ts$',
      '^src/config\\.ts$',
      '^src/database/frugal-client\\.ts$',
    ]),
    only('masking', '^src/masking/', []),
    only('engines', '^src/engines/', [
      '^src/errors\\.ts$',
      ...ofProcesses,
      // What a connection may reach is said once, for the engines and for whoever tries it out.
      '^src/integrations/connections/(reachable-address|vetted-socket)\\.ts$',
    ]),
    only('integrations', '^src/integrations/', [
      '^src/errors\\.ts$',
      // What a connection comes to, and whose a file is, is said once, for the engines and for whoever tries it out.
      '^src/engines/(engine|task-spec|file-owners)\\.ts$',
    ]),
    only('domain', '^src/domain/', [
      ...nouns,
      '^src/entities/',
      '^src/events/',
      '^src/database/',
      '^src/engines/engine',
      '^src/engines/task-spec',
      '^src/engines/file-owners',
      // What is a text and what a comment in SQL is said once, for who fills placeholders in and for who runs it.
      '^src/engines/sql-quotes\\.ts$',
      '^src/integrations/sso/sso-protocol\\.ts$',
      '^src/integrations/webhooks/webhook-sender\\.ts$',
      '^src/integrations/connections/',
      '^src/integrations/http/public-address\\.ts$',
      '^src/config\\.ts$',
      '^src/(bounded-process|outlive-signals)\\.ts$',
      '^src/redact\\.ts$',
      // For what leaves the house otherwise than by an answer.
      '^src/masking/mask-text\\.ts$',
    ]),
    {
      name: 'domain-knows-no-carrier',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { path: 'node_modules/(express|agenda|@agendajs|@apollo|type-graphql)/' },
    },
    {
      name: 'agenda-only-in-jobs',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/jobs/' },
      to: { path: 'node_modules/(agenda|@agendajs)/' },
    },
    {
      name: 'area-through-its-index',
      severity: 'error',
      comment: 'Another area is reached through its index.',
      from: { path: `^src/domain/(${areas})/` },
      to: {
        path: `^src/domain/(${areas})/`,
        pathNot: ['^src/domain/$1/', `^src/domain/(${areas})/(definition/)?index\\.ts$`],
      },
    },
    {
      name: 'not-resolved',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^@graphql-typed-document-node/core$' },
    },
    {
      name: 'no-dev-dependency',
      severity: 'error',
      from: { path: '^(src|packages/[^/]+/src)/', pathNot: '^src/console/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'src/tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'node', 'default'],
    },
  },
};
