const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/**
 * The realm of the worker itself, where Jest's own makes a vm context for every file. Modules are then compiled once a
 * worker and not once a file, and errors of Node's core are `instanceof Error` as they are in production. What a file
 * leaves on the process is taken away after it. A file whose decorators would stay behind asks for `@jest-environment node`.
 */
class OneRealm {
  constructor({ projectConfig }) {
    this.before = look();
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimers = null;
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    Error.stackTraceLimit = 100;
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    putBack(this.before);
    this.global = null;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** The runtime compiles without one; Jest only asks whether there is such a method. */
  getVmContext() {
    return undefined;
  }
}

function look() {
  return {
    globals: Object.getOwnPropertyDescriptors(globalThis),
    env: { ...process.env },
    exit: process.exit,
    getBuiltinModule: process.getBuiltinModule,
    stackTraceLimit: Error.stackTraceLimit,
    listeners: new Map(process.eventNames().map((name) => [name, new Set(process.rawListeners(name))])),
  };
}

function putBack(before) {
  for (const name of Reflect.ownKeys(globalThis)) {
    // What modules put there when they are loaded once must stay; what Jest puts there is new for every file.
    if (!Object.hasOwn(before.globals, name) && isOfJest(name)) delete globalThis[name];
  }
  Object.defineProperty(globalThis, 'console', before.globals.console);
  for (const name of Object.keys(process.env)) if (!(name in before.env)) delete process.env[name];
  Object.assign(process.env, before.env);
  process.exit = before.exit;
  process.getBuiltinModule = before.getBuiltinModule;
  Error.stackTraceLimit = before.stackTraceLimit;
  for (const name of ['uncaughtException', 'unhandledRejection', 'SIGTERM', 'SIGINT', 'SIGHUP']) {
    const kept = before.listeners.get(name) ?? new Set();
    for (const listener of process.rawListeners(name))
      if (!kept.has(listener)) process.removeListener(name, listener);
  }
}

const GLOBALS_OF_TESTS = new Set([
  ...[
    'afterAll',
    'afterEach',
    'beforeAll',
    'beforeEach',
    'describe',
    'expect',
    'fdescribe',
    'fit',
    'it',
    'jest',
  ],
  ...['test', 'xdescribe', 'xit', 'xtest'],
]);

function isOfJest(name) {
  if (typeof name === 'string') return GLOBALS_OF_TESTS.has(name);
  return /jest|RETRY|TEST_TIMEOUT|EVENT_HANDLERS|LOG_ERRORS/i.test(name.description ?? '');
}

module.exports = OneRealm;
