// Names the sources in stacks of a build, whose files are bundles of many modules, by the source maps beside them.
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

const ROOT_URL = new URL('../../', import.meta.url).href;
const IS_BUILD = import.meta.url.endsWith('.js');

/** By the module's URL: what is loaded anew has another. */
const maps = new Map<string, SourceMap | undefined>();

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

function mapOf(url: string): SourceMap | undefined {
  if (!maps.has(url)) maps.set(url, readMap(url));
  return maps.get(url);
}

/** A library, and a plugin of somebody else, may have none that can be read. */
function readMap(url: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')));
  } catch {
    return undefined;
  }
}
