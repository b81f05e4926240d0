const UNITS_MS = [604_800_000, 86_400_000, 3_600_000, 60_000, 1_000] as const;
const DURATION = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** Milliseconds of an ISO 8601 duration without years and months, whose length is not fixed; undefined when it is none. */
export function durationMs(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (!match || /[PT]$/.test(text)) return undefined;
  return UNITS_MS.reduce((sum, unit, index) => sum + Math.round(Number(match[index + 1] ?? 0) * unit), 0);
}
