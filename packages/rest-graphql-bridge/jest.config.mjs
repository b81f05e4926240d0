import base from '../../jest.config.mjs';

/** Runs the package's tests on their own: they need no database and none of the repository's set-up. */
const { globalSetup, globalTeardown, setupFilesAfterEnv, roots, moduleNameMapper, ...shared } = base;

export default {
  ...shared,
  roots: ['<rootDir>/test'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/dist'],
};
