// Serves the console: files whose real path is inside its folder, `index.html` for unknown pages, or a landing page.
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream';
import { GuardedDirectory } from '#kit/guarded-directory';
import { refuse } from '#kit/refusal';

export interface ConsoleOptions {
  /** Folder of the console; when it is empty, only a landing page is served. */
  readonly staticDir: string;
  /** Why the folder with this real path is not served; null for one that is. */
  readonly refusal: (folder: string) => string | null;
  /** Address of the native listener, linked on the landing page. */
  readonly nativeUrl: string;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
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

export function createConsole({ staticDir, refusal, nativeUrl }: ConsoleOptions) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'OPTIONS') {
      response.writeHead(204, { Allow: 'GET, HEAD, OPTIONS' }).end();
      return;
    }
    const name = decodeFileName(request.url ?? '/');
    if (staticDir === '' && name === '') {
      sendLandingPage(request, response, nativeUrl);
      return;
    }
    const requested = staticDir === '' || name === undefined ? undefined : await openFile(staticDir, name, refusal);
    const acceptsHtml = request.headers.accept?.includes('text/html') === true;
    const file =
      requested ?? (staticDir !== '' && acceptsHtml ? await openFile(staticDir, 'index.html', refusal) : undefined);
    if (file === undefined) {
      refuse(response, 404, 'Not found');
      return;
    }
    response.writeHead(200, {
      'Content-Type': MEDIA_TYPES[path.extname(file.name).toLowerCase()] ?? 'application/octet-stream',
      'Content-Length': file.sizeBytes,
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
    });
    if (request.method === 'HEAD') {
      response.end();
      await file.handle.close();
      return;
    }
    // When the file shrinks or fails while it is sent, the connection is cut, so that the browser knows it is
    // incomplete.
    pipeline(file.handle.createReadStream({ end: Math.max(file.sizeBytes - 1, 0) }), response, () => undefined);
  };
}

/** The path of the wanted file below the folder, empty for the root; undefined when the URL is malformed. */
function decodeFileName(url: string): string | undefined {
  const [rawPath = '/'] = url.split('?');
  try {
    const decoded = decodeURIComponent(rawPath);
    return decoded.includes('\0') ? undefined : decoded.replace(/^\/+/, '');
  } catch {
    return undefined;
  }
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly name: string;
  readonly sizeBytes: number;
}

async function openFile(
  folder: string,
  name: string,
  refusal: ConsoleOptions['refusal'],
): Promise<OpenFile | undefined> {
  try {
    const opened = await GuardedDirectory.open(folder);
    const root = opened.path;
    opened.close();
    if (refusal(root) !== null) return undefined;
    return await GuardedDirectory.at(path.join(root, name === '' ? 'index.html' : name), async (directory, last) => {
      if (directory.path !== root && !directory.path.startsWith(root + path.sep)) return undefined;
      const handle = await directory.openFile(last, 'read');
      return { handle, name: last, sizeBytes: (await handle.stat()).size };
    });
  } catch {
    // The caller gets the same 404 for a file that is missing, unreadable, no file or was deleted in between.
    return undefined;
  }
}

function sendLandingPage(request: IncomingMessage, response: ServerResponse, nativeUrl: string): void {
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
