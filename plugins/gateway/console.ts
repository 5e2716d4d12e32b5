// The static console: files whose real path lies inside the folder, `index.html` for unknown pages, else a signpost.
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream';
import { refuse } from './refusal.ts';

export interface ConsoleOptions {
  readonly staticDir: string;
  readonly nativeUrl: string;
}

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
};

export function createConsole({ staticDir, nativeUrl }: ConsoleOptions) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'OPTIONS') {
      response.writeHead(204, { Allow: 'GET, HEAD, OPTIONS' }).end();
      return;
    }
    const name = fileName(request.url ?? '/');
    if (staticDir === '' && name === '') {
      sendSignpost(request, response, nativeUrl);
      return;
    }
    const found = staticDir === '' || name === undefined ? undefined : await findFile(staticDir, name);
    const isPage = request.headers.accept?.includes('text/html') === true;
    const file = found ?? (staticDir !== '' && isPage ? await findFile(staticDir, 'index.html') : undefined);
    if (file === undefined) {
      refuse(response, 404, 'Not found');
      return;
    }
    response.writeHead(200, {
      'Content-Type': mediaTypes[path.extname(file.path).toLowerCase()] ?? 'application/octet-stream',
      'Content-Length': file.sizeBytes,
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
    });
    if (request.method === 'HEAD') response.end();
    // A file that shrinks or fails meanwhile cuts the connection, which tells the browser that it is not whole.
    else pipeline(createReadStream(file.path, { end: Math.max(file.sizeBytes - 1, 0) }), response, () => undefined);
  };
}

/** The path below the folder; undefined when it is malformed. */
function fileName(url: string): string | undefined {
  const [rawPath = '/'] = url.split('?');
  try {
    const decoded = decodeURIComponent(rawPath);
    return decoded.includes('\0') ? undefined : decoded.replace(/^\/+/, '');
  } catch {
    return undefined;
  }
}

async function findFile(folder: string, name: string): Promise<{ path: string; sizeBytes: number } | undefined> {
  try {
    const root = await realpath(folder);
    const wanted = await realpath(path.join(root, name === '' ? 'index.html' : name));
    if (!wanted.startsWith(root.endsWith(path.sep) ? root : root + path.sep)) return undefined;
    const facts = await stat(wanted);
    return facts.isFile() ? { path: wanted, sizeBytes: facts.size } : undefined;
  } catch {
    // Absent, unreadable or gone meanwhile: for the caller it is not there.
    return undefined;
  }
}

function sendSignpost(request: IncomingMessage, response: ServerResponse, nativeUrl: string): void {
  const html = [
    '<!doctype html>',
    '<html lang="en">',
    '<head><meta charset="utf-8"><title>Stackwarden</title></head>',
    '<body style="font-family: sans-serif; max-width: 40rem; margin: 3rem auto; line-height: 1.5">',
    '<h1>Stackwarden is running</h1>',
    '<p>The API is served here below <a href="/api/health"><code>/api</code></a>, the streams below <code>/ws</code>.</p>',
    `<p>Its documentation is on the native listener: <a href="${nativeUrl}/docs">${nativeUrl}/docs</a>.</p>`,
    '<p>Set <code>dumb.gateway.static_dir</code> to serve a console from this address.</p>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(html),
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'",
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(request.method === 'HEAD' ? undefined : html);
}
