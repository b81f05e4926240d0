import { createHash } from 'node:crypto';
import express, { type Router } from 'express';
import { recordOf } from './request-record.js';

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { display: grid; min-height: 100vh; margin: 0; place-items: center; }
main { width: min(22rem, calc(100vw - 2rem)); }
h1 { font-size: 1.25rem; }
label { display: block; margin: 1rem 0 0.25rem; }
input, button { box-sizing: border-box; width: 100%; padding: 0.6rem; font: inherit; border: 1px solid #8888; border-radius: 0.4rem; }
button { margin-top: 1rem; color: #fff; background: #1f5fbf; border-color: #1f5fbf; cursor: pointer; }
`;

/** The token is taken out of the address bar, so that it stays in no history. */
const SCRIPT = `
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
history.replaceState(null, '', location.pathname);
const form = document.querySelector('form');
const said = document.querySelector('output');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const password = form.elements.password.value;
  if (password !== form.elements.again.value) {
    said.textContent = 'The two passwords differ.';
    return;
  }
  said.textContent = '';
  try {
    const response = await fetch('../v1/auth/password/reset', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, password }),
    });
    const answer = await response.json();
    if (response.ok) form.hidden = true;
    const lost = answer.error?.code === 'TOKEN_INVALID';
    said.textContent = response.ok
      ? 'The password was set. You can log in now.'
      : lost ? 'This link was used before or is too old: ask for a new one.' : answer.error.message;
  } catch {
    said.textContent = 'The server did not answer. Try again.';
  }
});
`;

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const HEADERS = new Map([
  [
    'content-security-policy',
    `default-src 'none'; script-src ${hashOf(SCRIPT)}; style-src ${hashOf(STYLE)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  ],
  ['referrer-policy', 'no-referrer'],
  ['cache-control', 'no-store'],
]);

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Set your password</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body><main><h1>Set your password</h1>
<form>
<label for="password">New password, at least 12 characters</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="12" maxlength="128" required autofocus>
<label for="again">Once more</label>
<input id="again" name="again" type="password" autocomplete="new-password" required>
<button>Set it</button>
</form>
<p><output role="status"></output></p>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;

/** Where the links of invitations and forgotten passwords lead. The page knows nobody: the token stays in the browser. */
export function createPasswordPage(path: string): Router {
  const router = express.Router();
  router.get(path, (request, response) => {
    recordOf(request).route = path;
    response.setHeaders(HEADERS);
    response.type('html').send(PAGE);
  });
  return router;
}
