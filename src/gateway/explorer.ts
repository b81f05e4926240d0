import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { type RequestHandler, type Router } from 'express';
import { unavailable } from '../errors.js';
import { recordOf } from './request-record.js';
import { explorerHeaders } from './security-headers.js';

export interface ExplorerOptions {
  /** Path of GraphQL, for HTTP and WebSocket, and of the page for browsers. */
  endpoint: string;
  /** Where the demo's e-mail and password buy a token; undefined shows no login. */
  loginPath?: string | undefined;
  /** Where scripts/build-console.mjs put the bundle. */
  directory?: string;
}

const FILES = '/console';
/** The same place from src/gateway, as the tests run, and from dist/gateway. */
const BUNDLE = fileURLToPath(new URL('../../dist/console', import.meta.url));
/** About what a build takes, in seconds. */
const BUILD_SECONDS = 5;

/**
 * GraphiQL from our own files: the page at the GraphQL path for whoever asks for HTML, its files below /console.
 * Without a bundle the page is 503 and everything else goes on.
 */
export function createExplorer({ endpoint, loginPath, directory = BUNDLE }: ExplorerOptions): Router {
  const router = express.Router();
  router.get(endpoint, onlyForBrowsers, routed(endpoint), explorerHeaders, async (_request, response) => {
    const files = `${FILES}/${await builtVersion(directory)}`;
    response.setHeader('cache-control', 'no-cache');
    response.type('html').send(pageOf(files, endpoint, loginPath));
  });
  router.use(
    FILES,
    routed(`${FILES}/*`),
    explorerHeaders,
    express.static(directory, { index: false, immutable: true, maxAge: '1y', redirect: false, etag: false }),
  );
  return router;
}

/** Read for each page, so that a build is seen by the server that already runs. */
async function builtVersion(directory: string): Promise<string> {
  try {
    const { version } = JSON.parse(await readFile(path.join(directory, 'build.json'), 'utf8'));
    return String(version);
  } catch (error) {
    throw unavailable('explorer', BUILD_SECONDS, error);
  }
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
