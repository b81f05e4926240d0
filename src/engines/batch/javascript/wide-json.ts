/** Texts, so that what is in them is passed over, and numbers. */
const PARTS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const WHOLE = /^-?\d+$/;
/** Text without it is not looked at number by number: 2^53 has sixteen digits. */
const LONG = /\d{16}/;

/** JSON in which whole numbers that JavaScript would round are texts that begin with `mark`, which no other text does. */
export function markWide(json: string, mark: string): string {
  if (!LONG.test(json)) return json;
  return json.replace(PARTS, (part) =>
    WHOLE.test(part) && !Number.isSafeInteger(Number(part)) ? `"${mark}${part}"` : part,
  );
}

/** The numbers again. */
export function unmarkWide(json: string, mark: string): string {
  return json.includes(mark) ? json.replace(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1') : json;
}
