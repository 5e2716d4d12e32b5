// Serves the files of a web frontend whose real path is inside its folder, and `index.html` for unknown pages. Without
// such a folder it serves a page of the gateway's own.
import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream';
import type { HttpEntrance } from '#core';
import { GuardedDirectory } from '#kit/guarded-directory';
import { refuse } from '#kit/refusal';
import type { ConsoleDocument, ConsolePage } from '../console/contract.ts';
import { sendConsole, sendLandingPage, sendWaitingPage } from './pages.ts';

export interface FrontendFilesOptions {
  /** Folder of the frontend; when this is '' or the folder is empty, only the console or a landing page is served. */
  readonly staticDir: string;
  /** Called with each response that sends a file, because its client may read it slowly. */
  readonly allowCut: HttpEntrance['allowCut'];
  /** Why the folder with this real path may not be served; null if it may. */
  readonly refusal: (folder: string) => string | null;
  /** Address of the native listener, linked on the landing page. */
  readonly nativeUrl: string;
  /** Name of the frontend that should serve this port but is not running; undefined when there is none. */
  readonly awaited?: (() => string | undefined) | undefined;
  /** The console, which is served at `/` when there is no frontend; undefined when no plugin provides it. */
  readonly consolePage?: (() => ConsolePage | undefined) | undefined;
}

/** Path from the root of the gateway to the routes of the host. */
const ROUTES_AT = 'api/';

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

export function createFrontendFiles({
  staticDir,
  refusal,
  nativeUrl,
  awaited,
  consolePage,
  allowCut,
}: FrontendFilesOptions) {
  /** The requested file. A page that is no file is one of the frontend's script, which `index.html` loads. */
  async function findFile(name: string | undefined, acceptsHtml: boolean): Promise<OpenFile | undefined> {
    if (staticDir === '') return undefined;
    const requested = name === undefined ? undefined : await openFile(staticDir, name, refusal);
    if (requested !== undefined || !acceptsHtml) return requested;
    return openFile(staticDir, 'index.html', refusal);
  }

  /** The page at `/` where the frontend has none. */
  async function sendRoot(request: IncomingMessage, response: ServerResponse, acceptsHtml: boolean): Promise<void> {
    const page = acceptsHtml ? await openConsole(consolePage?.()) : undefined;
    if (page === undefined) sendLandingPage(request, response, nativeUrl);
    else sendConsole(request, response, page);
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'OPTIONS') {
      response.writeHead(204, { Allow: 'GET, HEAD, OPTIONS' }).end();
      return;
    }
    const name = decodeFileName(request.url ?? '/');
    const acceptsHtml = request.headers.accept?.includes('text/html') === true;
    const frontend = staticDir === '' ? awaited?.() : undefined;
    if (frontend !== undefined) {
      sendWaitingPage(request, response, frontend, consolePage?.() !== undefined);
      return;
    }
    const file = await findFile(name, acceptsHtml);
    if (file !== undefined) return sendFile(request, response, file, allowCut);
    if (name === '') return sendRoot(request, response, acceptsHtml);
    refuse(response, 404, 'Not found');
  };
}

async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: OpenFile,
  allowCut: FrontendFilesOptions['allowCut'],
): Promise<void> {
  const isKnown = namesTag(request.headers['if-none-match'], file.tag);
  const cached = { 'Cache-Control': 'no-cache', ETag: file.tag, 'X-Content-Type-Options': 'nosniff' };
  const described = {
    ...cached,
    'Content-Type': MEDIA_TYPES[path.extname(file.name).toLowerCase()] ?? 'application/octet-stream',
    'Content-Length': file.sizeBytes,
  };
  if (isKnown) response.writeHead(304, cached);
  else response.writeHead(200, described);
  if (isKnown || request.method === 'HEAD' || file.sizeBytes === 0) {
    response.end();
    await file.handle.close();
    return;
  }
  allowCut(response);
  // When the file shrinks or fails while it is sent, the connection is cut, so that the browser knows that the answer
  // is incomplete.
  const content = file.handle.createReadStream({ end: file.sizeBytes - 1 });
  pipeline(
    content,
    chunks => wholeOf(chunks, file.sizeBytes),
    response,
    () => undefined,
  );
}

/** Throws at the end when there were fewer bytes than `sizeBytes`. */
async function* wholeOf(chunks: AsyncIterable<Buffer>, sizeBytes: number): AsyncGenerator<Buffer> {
  let leftBytes = sizeBytes;
  for await (const chunk of chunks) {
    leftBytes -= chunk.length;
    yield chunk;
  }
  if (leftBytes > 0) throw new Error(`The file has ${leftBytes} bytes less than before`);
}

/** undefined when the console cannot be made: the landing page is served instead. */
async function openConsole(page: ConsolePage | undefined): Promise<ConsoleDocument | undefined> {
  try {
    return await page?.open(ROUTES_AT);
  } catch {
    // The host has counted and logged this fault of the console's plugin.
    return undefined;
  }
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
  /** Changes with the file, as an entity tag of HTTP. */
  readonly tag: string;
}

async function openFile(
  folder: string,
  name: string,
  refusal: FrontendFilesOptions['refusal'],
): Promise<OpenFile | undefined> {
  try {
    const opened = await GuardedDirectory.open(folder);
    const root = opened.path;
    opened.close();
    if (refusal(root) !== null) return undefined;
    return await GuardedDirectory.at(path.join(root, name === '' ? 'index.html' : name), async (directory, last) => {
      if (directory.path !== root && !directory.path.startsWith(root + path.sep)) return undefined;
      const handle = await directory.openFile(last, 'read');
      const entry = await handle.stat();
      return { handle, name: last, sizeBytes: entry.size, tag: tagOf(entry) };
    });
  } catch {
    // The caller gets the same 404 for a file that is missing, unreadable, no file or was deleted in between.
    return undefined;
  }
}

/**
 * The time of modification alone would not do, and is not sent: files that come from a package or an image have the
 * same time in each release. A digest tells nobody of the disk. The tag is a weak one, because a file may change twice
 * within the resolution of its times.
 */
function tagOf({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  const digest = createHash('sha256').update([ino, size, mtimeMs, ctimeMs].join('-')).digest('base64url');
  return `W/"${digest}"`;
}

/** Whether the browser has the file with this tag already. */
function namesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  return ifNoneMatch?.split(',').some(named => named.trim() === tag) === true;
}
