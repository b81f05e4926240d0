// npm leaves a platform's optional package out of the lockfile when the registry at hand does not carry it, and
// `npm ci` then refuses the lockfile on every platform. Run after `npm install`: the entries are put back.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

const file = path.resolve(import.meta.dirname, '../package-lock.json');
const lock = JSON.parse(await readFile(file, 'utf8'));
const systems = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
  'windows',
];
const processors = ['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64'];
const exact = /^\d+\.\d+\.\d+[-+.\w]*$/;

/** Undefined for a name that names no platform: then the entry is missing for another reason. */
function platformOf(name) {
  const words = name.split(/[/-]/);
  const os = words.find((word) => systems.includes(word));
  const cpu = words.find((word) => processors.includes(word));
  return os && cpu && { os: [os === 'windows' ? 'win32' : os], cpu: [cpu] };
}

const isKnown = (owner, name) =>
  `${owner}/node_modules/${name}` in lock.packages || `node_modules/${name}` in lock.packages;

const added = Object.entries(lock.packages).flatMap(([owner, { optionalDependencies = {}, dev }]) =>
  Object.entries(optionalDependencies).flatMap(([name, version]) => {
    const platform = platformOf(name);
    if (!platform || !exact.test(version) || isKnown(owner, name)) return [];
    const entry = { version, cpu: platform.cpu, ...(dev ? { dev } : {}), optional: true, os: platform.os };
    return [[`node_modules/${name}`, entry]];
  }),
);

lock.packages = Object.fromEntries(
  [...Object.entries(lock.packages), ...added].toSorted(([a], [b]) => a.localeCompare(b, 'en')),
);
if (added.length > 0) await writeFile(file, `${JSON.stringify(lock, null, 2)}\n`);
for (const [name] of added) process.stdout.write(`put back: ${name}\n`);
