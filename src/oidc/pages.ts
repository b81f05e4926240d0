import { createHash } from 'node:crypto';

export interface Page {
  html: string;
  headers: Record<string, string>;
}

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { display: grid; min-height: 100vh; margin: 0; place-items: center; }
  main { width: min(22rem, calc(100vw - 2rem)); }
  h1 { font-size: 1.25rem; }
  label { display: block; margin: 1rem 0 0.25rem; }
  input, button { box-sizing: border-box; width: 100%; padding: 0.6rem; font: inherit; border: 1px solid #8888; border-radius: 0.4rem; }
  button { margin-top: 1rem; cursor: pointer; }
  button.primary { color: #fff; background: #1f5fbf; border-color: #1f5fbf; }
  [role=alert] { padding: 0.5rem 0.75rem; border-left: 4px solid #c0392b; }`;

const STYLE_HASH = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/**
 * Nothing may frame the page, load into it or run in it. A form may post to us and then be redirected to the client:
 * browsers apply form-action to the redirect too.
 */
function page(title: string, body: string, formTargets: string[] = []): Page {
  const formAction = formTargets.length === 0 ? "'none'" : ["'self'", ...formTargets].join(' ');
  return {
    html: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body><main><h1>${escapeHtml(title)}</h1>
${body}
</main></body>
</html>
`,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src ${STYLE_HASH}; form-action ${formAction}; frame-ancestors 'none'; base-uri 'none'`,
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    },
  };
}

interface Form {
  /** Path of the interaction; the forms post below it. */
  action: string;
  csrf: string;
  clientId: string;
  redirectUri: string;
}

export function loginPage(
  { action, csrf, clientId, redirectUri }: Form,
  failed?: { email: string; message: string },
): Page {
  const alert = failed ? `<p role="alert">${escapeHtml(failed.message)}</p>` : '';
  const body = `${alert}<form method="post" action="${escapeHtml(action)}/login">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" required autofocus value="${escapeHtml(failed?.email ?? '')}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button class="primary">Log in</button>
</form>`;
  return page(`Log in to go on to ${clientId}`, body, [new URL(redirectUri).origin]);
}

export function codePage(
  { action, csrf, clientId, redirectUri }: Form,
  mfaToken: string,
  message = '',
): Page {
  const alert = message === '' ? '' : `<p role="alert">${escapeHtml(message)}</p>`;
  const body = `${alert}<form method="post" action="${escapeHtml(action)}/mfa">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
<input type="hidden" name="mfaToken" value="${escapeHtml(mfaToken)}">
<label for="code">Code of your authenticator app, or a backup code</label>
<input id="code" name="code" autocomplete="one-time-code" required autofocus>
<button class="primary">Go on</button>
</form>`;
  return page(`Log in to go on to ${clientId}`, body, [new URL(redirectUri).origin]);
}

export function consentPage({ action, csrf, clientId, redirectUri }: Form, scopes: string[]): Page {
  const granted = scopes.map((scope) => `<li>${escapeHtml(scopeTexts[scope] ?? scope)}</li>`).join('');
  const hidden = `<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">`;
  const body = `<p>It will be able to:</p><ul><li>use the platform with your roles</li>${granted}</ul>
<form method="post" action="${escapeHtml(action)}/consent">${hidden}<button class="primary">Allow</button></form>
<form method="post" action="${escapeHtml(action)}/abort">${hidden}<button>Refuse</button></form>`;
  return page(`Allow ${clientId} to act for you?`, body, [new URL(redirectUri).origin]);
}

export function errorPage(error: string, description = 'Something went wrong.'): Page {
  return page(
    'This did not work',
    `<p role="alert">${escapeHtml(description)}</p><p><code>${escapeHtml(error)}</code></p>`,
  );
}

const scopeTexts: Readonly<Record<string, string>> = {
  openid: 'know who you are',
  email: 'see your e-mail address',
  profile: 'see your name',
  offline_access: 'stay logged in for 7 days',
};

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
