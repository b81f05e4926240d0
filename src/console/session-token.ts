const KEY = 'opsgraph.token';

/** The bearer token of this browser tab: gone with the tab, unlike what GraphiQL keeps in localStorage. */
export const sessionToken = {
  read: (): string => sessionStorage.getItem(KEY) ?? '',
  write(token: string): void {
    if (token === '') sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, token);
  },
};

/** What an Authorization header is given, whether or not the scheme was pasted with the token. */
export function authorization(): string | undefined {
  const token = sessionToken.read().replace(/^Bearer\s+/i, '');
  return token === '' ? undefined : `Bearer ${token}`;
}
