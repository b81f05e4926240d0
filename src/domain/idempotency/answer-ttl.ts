/** For so long a key stands for its first request. */
export const ANSWER_TTL_MS = 24 * 3_600_000;
