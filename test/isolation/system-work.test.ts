import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { systemWork } from '../../src/database/system-work.js';

const root = path.join(import.meta.dirname, '../..');
/** The ORM of the system taken from the services, or the pool beneath it. */
const TOUCHES =
  /\borm\.em\b|\bservices\.orm\b|\bnativePool\(|\{[^{}()]*\borm\b[^{}()]*\}: (Pick<|Needs|\w*Services)/;
/** The rooms that make it. */
const MAKES = /^src\/(database|app|entities)\//;

describe('what sees all tenants', () => {
  it('is exactly what src/database/system-work.ts names, each with its reason', async () => {
    const touching: string[] = [];
    for await (const file of glob('src/**/*.ts', { cwd: root })) {
      if (MAKES.test(file)) continue;
      if (TOUCHES.test(await readFile(path.join(root, file), 'utf8'))) touching.push(file);
    }
    expect(touching.sort()).toEqual(Object.keys(systemWork).sort());
  });
});
