import { countrySpecs, ValidationErrorsIBAN, validateIBAN } from 'ibantools';
import { type Span, standsAlone } from './span.js';

const CANDIDATE = /[A-Za-z]{2}[ \u00a0]?\d{2}/g;
const ALPHANUMERIC = /[A-Za-z0-9]/;

/** International bank account numbers (ISO 13616), compact or printed in groups, with right check digits. */
export function findIbans(text: string): Span[] {
  const spans: Span[] = [];
  for (const { index } of text.matchAll(CANDIDATE)) {
    const found = readIban(text, index);
    if (found && standsAlone(text, found) && isIban(found.iban)) spans.push(found);
  }
  return spans;
}

/** As many letters and digits as the country's numbers have, with at most one separator between two of them. */
function readIban(text: string, start: number): (Span & { iban: string }) | undefined {
  const length = countrySpecs[text.slice(start, start + 2).toUpperCase()]?.chars;
  if (length == null) return undefined;
  let iban = '';
  let hyphens = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (ALPHANUMERIC.test(character)) {
      iban += character;
      if (iban.length === length) return { start, end: at + 1, iban: iban.toUpperCase() };
      continue;
    }
    // Hyphens only between groups of four from the first on, which no UUID has.
    const hyphen = character === '-' && iban.length % 4 === 0 && hyphens === iban.length / 4 - 1;
    if (hyphen) hyphens += 1;
    const separator = hyphen || character === ' ' || character === '\u00a0';
    if (!separator || !ALPHANUMERIC.test(text.charAt(at + 1))) return undefined;
  }
  return undefined;
}

/** Some countries' banks have check digits of their own inside the number, which ISO 13616 does not ask for. */
function isIban(iban: string): boolean {
  const { errorCodes } = validateIBAN(iban);
  return errorCodes.every((code) => code === ValidationErrorsIBAN.WrongAccountBankBranchChecksum);
}
