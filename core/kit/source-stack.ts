// Names the sources in stacks of a build, whose files are bundles of many modules, by the source maps beside them.
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT_URL = new URL('../../', import.meta.url).href;
const IS_BUILD = import.meta.url.endsWith('.js');

/** By the URL of the module; a module that is loaded anew has another one. */
const maps = new Map<string, SourceMap>();

/** The stack with the file, line and column of the source in each frame whose place there is known. */
export function sourceStack(stack: string): string {
  return IS_BUILD ? stack.split('\n').map(sourceFrame).join('\n') : stack;
}

function sourceFrame(line: string): string {
  const at = line.indexOf(ROOT_URL);
  const [place, url = '', row, column] = /^([^\s:]+:[^\s:]+):(\d+):(\d+)/.exec(at < 0 ? '' : line.slice(at)) ?? [];
  if (place === undefined) return line;
  const found = mapOf(url)?.findEntry(Number(row) - 1, Number(column) - 1);
  if (found === undefined || !('originalSource' in found)) return line;
  const source = new URL(found.originalSource, url).href;
  const after = line.slice(at + place.length);
  return `${line.slice(0, at)}${source}:${found.originalLine + 1}:${found.originalColumn + 1}${after}`;
}

/**
 * The source map beside a file of the build. A path that leads elsewhere is not read, because any program may have
 * written the text of an error.
 */
function mapOf(url: string): SourceMap | undefined {
  try {
    const file = path.normalize(fileURLToPath(url));
    if (!file.startsWith(fileURLToPath(ROOT_URL))) return undefined;
    const map = maps.get(url) ?? new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
    maps.set(url, map);
    return map;
  } catch {
    // A library or a plugin from elsewhere may have no source map that can be read.
    return undefined;
  }
}
