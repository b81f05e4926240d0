// Bundles the GraphQL explorer into dist/console/<version>/ and names the version in dist/console/build.json.
// The version is a fingerprint of everything that goes in, so an unchanged explorer costs a start 20 ms.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const source = path.join(root, 'src/console');
const target = path.join(root, 'dist/console');

/** What ends up in the bundle, and what bundles it. */
const PACKAGES = [
  'esbuild',
  'graphiql',
  '@graphiql/react',
  'monaco-editor',
  'monaco-graphql',
  'graphql',
  'graphql-ws',
  'react',
  'react-dom',
];

async function fingerprint() {
  const hash = createHash('sha256');
  for (const name of PACKAGES) {
    const { version } = JSON.parse(
      await readFile(path.join(root, 'node_modules', name, 'package.json'), 'utf8'),
    );
    hash.update(`${name}@${version}\n`);
  }
  for (const file of [fileURLToPath(import.meta.url), ...(await sourceFiles())]) {
    hash.update(`${path.relative(root, file)}\n`).update(await readFile(file));
  }
  return hash.digest('hex').slice(0, 16);
}

async function sourceFiles() {
  const names = await readdir(source, { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

async function bundle(directory) {
  const { build } = await import('esbuild');
  // The workers belong to versions of monaco that @graphiql/react depends on, wherever npm put them.
  const graphiql = createRequire(
    createRequire(path.join(root, 'package.json')).resolve('graphiql/package.json'),
  );
  const common = {
    bundle: true,
    minify: true,
    target: 'es2022',
    outdir: directory,
    legalComments: 'linked',
    logLevel: 'warning',
    define: { 'process.env.NODE_ENV': '"production"' },
  };
  await build({
    ...common,
    entryPoints: { main: path.join(source, 'main.tsx') },
    format: 'esm',
    splitting: true,
    chunkNames: 'chunk-[hash]',
    jsx: 'automatic',
    loader: { '.ttf': 'file', '.woff2': 'file' },
    tsconfig: path.join(source, 'tsconfig.json'),
  });
  await build({
    ...common,
    entryPoints: {
      'editor.worker': graphiql.resolve('monaco-editor/esm/vs/editor/editor.worker.js'),
      'json.worker': graphiql.resolve('monaco-editor/esm/vs/language/json/json.worker.js'),
      'graphql.worker': graphiql.resolve('monaco-graphql/esm/graphql.worker.js'),
    },
    format: 'iife',
  });
}

const version = await fingerprint();
const finished = path.join(target, version);
if (!existsSync(finished)) {
  await mkdir(target, { recursive: true });
  const unfinished = path.join(target, `.${version}.${process.pid}`);
  try {
    await bundle(unfinished);
    // Two builds at once make the same files: the later one finds the place taken.
    await rename(unfinished, finished).catch((error) => {
      if (!existsSync(finished)) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}
const record = path.join(target, 'build.json');
const text = `${JSON.stringify({ version })}\n`;
if (!existsSync(record) || (await readFile(record, 'utf8')) !== text) {
  await writeFile(`${record}.${process.pid}`, text);
  await rename(`${record}.${process.pid}`, record);
}
for (const name of await readdir(target)) {
  if (/^[0-9a-f]{16}$/.test(name) && name !== version) await rm(path.join(target, name), { recursive: true });
}
