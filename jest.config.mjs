export default {
  // One realm and one load of the product for all files of a worker: nine files of tickets take 6.7 s of user time, not 11.8.
  testEnvironment: '<rootDir>/test/support/one-realm/environment.cjs',
  runtime: '<rootDir>/test/support/one-realm/runtime.cjs',
  roots: ['<rootDir>/test', '<rootDir>/packages'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^rest-graphql-bridge$': '<rootDir>/packages/rest-graphql-bridge/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: false, useDefineForClassFields: true },
          target: 'es2022',
        },
        module: { type: 'es6' },
      },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/packages/.*/dist'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  setupFilesAfterEnv: ['<rootDir>/test/support/setup.ts'],
  // Jest would leave a core idle; tests mostly wait for the database.
  maxWorkers: '100%',
  testTimeout: 30_000,
};
