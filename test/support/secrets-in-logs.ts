import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** What is secret by its looks, whoever made it. */
const SHAPES: readonly [string, RegExp][] = [
  ['a JWT', /eyJ[\w-]{8,}\.[\w-]{8,}/],
  ['an API key', /tnt_[0-9a-z]{40}/],
  ['a webhook secret', /whsec_[\w+/=-]{20}/],
  ['a challenge', /\bmfa_[\w-]{40}/],
  ['a hash of a password', /\$argon2/],
  ['a TOTP secret', /otpauth:\/\//],
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY|"d":"[\w-]{40}/],
];
/** Looked up word by word: there are thousands of them, and lines by the hundred thousand. */
const WORD = /[\w-]+(?:\.[\w-]+)*/g;
const IS_WORD = /^[\w-]+(?:\.[\w-]+)*$/;
/** Enough to find what is wrong. */
const MAX_FINDINGS = 20;

/**
 * Searches the `*.log` files of a directory for secrets by their shape and for those its `*.secrets` files name.
 * @returns a sentence for each line that holds one, without the secret
 */
export async function secretsInLogs(directory: string): Promise<string[]> {
  const names = await readdir(directory);
  const secrets = new Set<string>();
  for (const name of names.filter((file) => file.endsWith('.secrets'))) {
    const text = await readFile(path.join(directory, name), 'utf8');
    for (const line of text.split('\n').filter(Boolean)) secrets.add(JSON.parse(line) as string);
  }
  const phrases = [...secrets].filter((secret) => !IS_WORD.test(secret));
  const findings: string[] = [];
  for (const name of names.filter((file) => file.endsWith('.log'))) {
    const lines = createInterface({ input: createReadStream(path.join(directory, name)) });
    for await (const line of lines) {
      const found = secretIn(line, secrets, phrases);
      if (found) findings.push(`${found.what}: ${line.replaceAll(found.text, '<here>').slice(0, 600)}`);
      if (findings.length === MAX_FINDINGS) return findings;
    }
  }
  return findings;
}

function secretIn(
  line: string,
  secrets: ReadonlySet<string>,
  phrases: readonly string[],
): { what: string; text: string } | undefined {
  for (const [what, shape] of SHAPES) {
    const text = shape.exec(line)?.[0];
    if (text !== undefined) return { what, text };
  }
  const text =
    line.match(WORD)?.find((word) => secrets.has(word)) ?? phrases.find((phrase) => line.includes(phrase));
  return text === undefined ? undefined : { what: 'a secret that was sent or answered', text };
}
