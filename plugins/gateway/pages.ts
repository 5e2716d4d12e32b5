// The gateway's own pages: the landing page, the console, and a page in place of a frontend that is not running.
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { refuse } from '#kit/refusal';
import type { ConsoleDocument } from '../console/contract.ts';

const RETRY_S = 2;
/** Asks before it reloads: no program answers while the frontend takes the port over, and an error page would stay. */
const SCRIPT = `setInterval(async () => {
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => null);
  if (answer !== null && answer.status !== 503) location.reload();
}, ${RETRY_S * 1_000});`;
const SCRIPT_HASH = createHash('sha256').update(SCRIPT).digest('base64');

export function sendLandingPage(request: IncomingMessage, response: ServerResponse, nativeUrl: string): void {
  if (request.headers.accept?.includes('text/html') !== true) {
    const places = { name: 'Stackwarden', api: '/api', streams: '/ws', documentation: `${nativeUrl}/docs` };
    response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' });
    response.end(request.method === 'HEAD' ? undefined : JSON.stringify(places));
    return;
  }
  send(request, response, {
    status: 200,
    title: 'Stackwarden is running',
    body: [
      '<p>The API is served here below <a href="/api/health"><code>/api</code></a>, the streams below <code>/ws</code>.</p>',
      `<p>Its documentation is on the native listener: <a href="${nativeUrl}/docs">${nativeUrl}/docs</a>.</p>`,
      '<p>Set <code>dumb.gateway.static_dir</code> to serve a web frontend from this address.</p>',
    ],
  });
}

export function sendConsole(
  request: IncomingMessage,
  response: ServerResponse,
  { html, headers }: ConsoleDocument,
): void {
  response.writeHead(200, { ...headers, 'Content-Length': Buffer.byteLength(html) });
  response.end(request.method === 'HEAD' ? undefined : html);
}

/** The page asks again by itself, and loads the frontend from the same address as soon as that runs. */
export function sendWaitingPage(
  request: IncomingMessage,
  response: ServerResponse,
  frontend: string,
  hasConsole: boolean,
): void {
  response.setHeader('Retry-After', RETRY_S);
  if (request.headers.accept?.includes('text/html') !== true) {
    refuse(response, 503, `${frontend} is not running at present`);
    return;
  }
  send(request, response, {
    status: 503,
    title: `${escapeHtml(frontend)} is not running`,
    head: `<script>${SCRIPT}</script><noscript><meta http-equiv="refresh" content="${RETRY_S}"></noscript>`,
    body: [
      `<p>This page becomes ${escapeHtml(frontend)} as soon as that has started.</p>`,
      '<p>Stackwarden itself is running: why the start takes long or fails, its log says, and the API below <code>/api</code>.</p>',
      ...(hasConsole ? ['<p><a href="/api/console">The console</a> shows both.</p>'] : []),
    ],
  });
}

interface Page {
  readonly status: number;
  readonly title: string;
  readonly head?: string;
  readonly body: readonly string[];
}

function send(request: IncomingMessage, response: ServerResponse, { status, title, head = '', body }: Page): void {
  const html = [
    '<!doctype html>',
    '<html lang="en">',
    `<head><meta charset="utf-8"><title>${title}</title>${head}</head>`,
    '<body style="font-family: sans-serif; max-width: 40rem; margin: 3rem auto; line-height: 1.5">',
    `<h1>${title}</h1>`,
    ...body,
    '</body>',
    '</html>',
    '',
  ].join('\n');
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(html),
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; script-src 'sha256-${SCRIPT_HASH}'; connect-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'`,
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(request.method === 'HEAD' ? undefined : html);
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}
