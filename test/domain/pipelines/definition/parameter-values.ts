import type { ParameterValues } from '../../../../src/domain/pipelines/index.js';

export const VALUES: ParameterValues = {
  params: {},
  builtIns: {
    'run.id': '01a1fb3c-6ba4-7748-a964-b27f88c25ee9',
    'run.startedAt': '2026-11-21T06:00:00.000Z',
    'schedule.date': '2026-11-20',
    'pipeline.name': 'orders',
    'workspace.slug': 'default',
  },
  env: { REGION: 'eu' },
};

export const PARAMETERS = `parameters:
  - { id: day, type: DATE, default: "{{ schedule.date }}" }
  - { id: name, type: STRING, default: "O'Hara" }
  - { id: least, type: INTEGER, default: -5 }
  - { id: share, type: DECIMAL, default: 0.25 }
  - { id: strict, type: BOOLEAN, default: true }
  - { id: since, type: TIMESTAMP, default: "2026-01-01T01:00:00+01:00" }
  - { id: tier, type: STRING, required: false, allowedValues: [gold, silver] }
`;
