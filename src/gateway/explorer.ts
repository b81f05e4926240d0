import { readFileSync } from 'node:fs';
import path from 'node:path';
import express, { type RequestHandler, type Router } from 'express';
import { recordOf } from './request-record.js';
import { explorerHeaders } from './security-headers.js';

export interface ExplorerOptions {
  /** Where scripts/build-console.mjs put the bundle: dist/console. */
  directory: string;
  /** Path of GraphQL, for HTTP and WebSocket, and of the page for browsers. */
  endpoint: string;
  /** Where the demo's e-mail and password buy a token; undefined shows no login. */
  loginPath?: string | undefined;
}

const FILES = '/console';

/**
 * GraphiQL from our own files: the page at the GraphQL path for whoever asks for HTML, its files below /console.
 * @throws Error when the bundle has not been built.
 */
export function createExplorer({ directory, endpoint, loginPath }: ExplorerOptions): Router {
  const version = builtVersion(directory);
  const page = pageOf(`${FILES}/${version}`, endpoint, loginPath);
  const router = express.Router();
  router.get(endpoint, onlyForBrowsers, routed(endpoint), explorerHeaders, (_request, response) => {
    response.setHeader('cache-control', 'no-cache');
    response.type('html').send(page);
  });
  router.use(
    FILES,
    routed(`${FILES}/*`),
    explorerHeaders,
    express.static(directory, { index: false, immutable: true, maxAge: '1y', redirect: false, etag: false }),
  );
  return router;
}

function builtVersion(directory: string): string {
  const { version } = JSON.parse(readFileSync(path.join(directory, 'build.json'), 'utf8')) as {
    version: unknown;
  };
  if (typeof version !== 'string') throw new Error(`${directory} holds no explorer`);
  return version;
}

/** A GraphQL client may use GET too: only who prefers HTML, as browsers do when they navigate, gets the page. */
const onlyForBrowsers: RequestHandler = (request, response, next) => {
  response.vary('Accept');
  next(request.headers.accept?.includes('text/html') ? undefined : 'route');
};

function routed(template: string): RequestHandler {
  return (request, _response, next) => {
    recordOf(request).route = template;
    next();
  };
}

function pageOf(files: string, endpoint: string, loginPath: string | undefined): string {
  const login = loginPath === undefined ? '' : ` data-login-path="${loginPath}"`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Opsgraph explorer</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${files}/main.css">
<script type="module" src="${files}/main.js"></script>
</head>
<body>
<div id="explorer" data-endpoint="${endpoint}"${login}></div>
</body>
</html>
`;
}
