const WEIGHTS = [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1] as const;
/** The month of birth carries the century: 81-92 are the 1800s, 1-12 the 1900s, 21-32 the 2000s, then 2100s, 2200s. */
const CENTURIES = [1900, 2000, 2100, 2200, 1800] as const;

/**
 * Whether 11 digits are a PESEL number: check digit right and the first six a day that exists. The day alone keeps out
 * four of five numbers whose check digit is right by chance.
 * Source: Dz.U. 2010 nr 217 poz. 1427 (ustawa o ewidencji ludności), art. 15.
 */
export function isPesel(text: string): boolean {
  if (!/^\d{11}$/.test(text)) return false;
  const digits = Array.from(text, Number);
  const sum = digits.reduce((total, digit, index) => total + digit * (WEIGHTS[index] ?? 0), 0);
  if (sum % 10 !== 0) return false;
  const coded = Number(text.slice(2, 4));
  const month = coded % 20;
  const year = (CENTURIES[Math.floor(coded / 20)] ?? 0) + Number(text.slice(0, 2));
  const day = Number(text.slice(4, 6));
  const date = new Date(Date.UTC(year, month - 1, day));
  return month >= 1 && month <= 12 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
