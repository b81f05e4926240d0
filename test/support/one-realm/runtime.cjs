const { existsSync } = require('node:fs');
const { registerHooks } = require('node:module');
const path = require('node:path');
const { fileURLToPath, pathToFileURL } = require('node:url');
const vm = require('node:vm');
const { default: Runtime } = require('jest-runtime');
const OneRealm = require('./environment.cjs');

const ROOT = path.join(__dirname, '../../..');
const BRIDGE = pathToFileURL(path.join(ROOT, 'packages/rest-graphql-bridge/src/index.ts')).href;
/** Test files and their support are loaded anew for every file; the product and the packages stay. */
const OF_TESTS = /^(?:test|packages\/[^/]+\/test)\//;
const ESM = {
  isInternalModule: false,
  supportsDynamicImport: true,
  supportsExportNamespaceFrom: true,
  supportsStaticESM: true,
  supportsTopLevelAwait: true,
};
const GLOBALS = Symbol.for('opsgraph.jest-globals');

let running;
let files = 0;
let hooked = false;
const sourceMaps = new Map();

/** Loads ES modules by Node's own loader when the environment is the worker's realm. */
class OneRealmRuntime extends Runtime {
  constructor(...options) {
    super(...options);
    if (!(this._environment instanceof OneRealm)) return;
    hook();
    files += 1;
    running = this;
    this.executor.compile = (source, filename) =>
      vm.compileFunction(source, this.executor.injectedModuleParameters, {
        filename,
        importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      });
  }

  async unstable_importModule(from, moduleName) {
    if (!(this._environment instanceof OneRealm)) return super.unstable_importModule(from, moduleName);
    globalThis[GLOBALS] = this.jestGlobals.cjsGlobals(from);
    return import(ofThisFile(pathToFileURL(from).href));
  }

  getSourceMaps() {
    return this._environment instanceof OneRealm ? sourceMaps : super.getSourceMaps();
  }

  compileTs(filename) {
    const code = this.transformCache.transform(filename, ESM);
    const map = this.transformCache.getSourceMaps().get(filename);
    if (map !== undefined) {
      sourceMaps.set(filename, map);
      sourceMaps.set(ofThisFile(pathToFileURL(filename).href), map);
      sourceMaps.set(pathToFileURL(filename).href, map);
    }
    return code;
  }
}

function hook() {
  if (hooked) return;
  hooked = true;
  registerHooks({ resolve, load });
}

function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: `jest-globals:${files}`, shortCircuit: true };
  if (specifier === 'rest-graphql-bridge') return { url: BRIDGE, format: 'module', shortCircuit: true };
  const parent = context.parentURL;
  if (specifier.startsWith('.') && parent?.startsWith('file:') && isOurs(parent)) {
    const target = new URL(specifier, parent);
    const typed = fileURLToPath(target).replace(/\.js$/, '.ts');
    if (typed.endsWith('.ts') && existsSync(typed)) return found(pathToFileURL(typed).href);
  }
  const resolved = next(specifier, context);
  return isOurs(resolved.url) && resolved.url.endsWith('.ts') ? found(resolved.url) : resolved;
}

function found(url) {
  const own = OF_TESTS.test(path.relative(ROOT, fileURLToPath(url)));
  return { url: own ? ofThisFile(url) : url, format: 'module', shortCircuit: true };
}

function load(url, context, next) {
  if (url.startsWith('jest-globals:')) {
    const names = Object.keys(globalThis[GLOBALS]).join(', ');
    const source = `export const { ${names} } = globalThis[Symbol.for('opsgraph.jest-globals')];`;
    return { format: 'module', source, shortCircuit: true };
  }
  if (!isOurs(url)) return next(url, context);
  const filename = fileURLToPath(url);
  if (!filename.endsWith('.ts')) return next(url, context);
  return { format: 'module', source: running.compileTs(filename), shortCircuit: true };
}

function isOurs(url) {
  return (
    url.startsWith('file:') && url.startsWith(pathToFileURL(ROOT).href) && !url.includes('/node_modules/')
  );
}

function ofThisFile(url) {
  return `${url.split('?')[0]}?file=${files}`;
}

exports.__esModule = true;
exports.default = OneRealmRuntime;
