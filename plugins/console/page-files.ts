// The files of the page, read from a build or bundled from the sources. A file's name changes with its content, so that
// browsers can cache it for good.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { withoutPart } from '#kit/missing-part';
import { bundlePage, type PageBundle } from '#kit/page-bundle';

interface PageFile {
  readonly name: string;
  readonly type: string;
  /** The compressed content. */
  readonly gzip: Uint8Array;
}

export interface PageFiles {
  readonly script: PageFile;
  readonly style: PageFile;
}

const SOURCES = fileURLToPath(new URL('page', import.meta.url));
const BUILT_SCRIPT = new URL('page.js', import.meta.url);
const BUILT_STYLE = new URL('page.css', import.meta.url);
const BEST_LEVEL = 9;

const compress = promisify(gzip);

export async function loadPageFiles(): Promise<PageFiles> {
  const { script, style } = existsSync(SOURCES) ? await bundlePage(SOURCES) : await readBuilt();
  const [scriptFile, styleFile] = await Promise.all([
    pageFile('console', 'js', 'text/javascript; charset=utf-8', script),
    pageFile('console', 'css', 'text/css; charset=utf-8', style),
  ]);
  return { script: scriptFile, style: styleFile };
}

async function readBuilt(): Promise<PageBundle> {
  try {
    const [script, style] = await Promise.all([readFile(BUILT_SCRIPT), readFile(BUILT_STYLE)]);
    return { script, style };
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? withoutPart(error) : error;
  }
}

async function pageFile(stem: string, extension: string, type: string, content: Uint8Array): Promise<PageFile> {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { name: `${stem}-${hash}.${extension}`, type, gzip: await compress(content, { level: BEST_LEVEL }) };
}
