/** ITSM document, Limits. */
export const ACCESS_TOKEN_SECONDS = 900;
export const REFRESH_TOKEN_SECONDS = 7 * 24 * 3_600;

/** The longest life of a token signed with a key, a refresh token's 7 days, and one for clocks and caches. */
export const RETIRED_KEYS_VERIFY_MS = REFRESH_TOKEN_SECONDS * 1_000 + 24 * 3_600_000;
