/** ITSM document, Limits. */
export const ACCESS_TOKEN_SECONDS = 900;
export const REFRESH_TOKEN_SECONDS = 7 * 24 * 3_600;
