// Finds where an error came from: whose plugin's folder, and which line in it, for the person who has to fix it.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { causesOf } from '../kit/causes.ts';
import { plainStack } from '../kit/error-text.ts';
import { percentDecoded } from '../kit/percent-decoded.ts';
import { sourceStack } from '../kit/source-stack.ts';
import { JOINED_URL } from './joined-plugins.ts';

const BUNDLE_URL = new URL('.', JOINED_URL).href;
const FRAME = /^\s+at /;
/** The frame in which a call begins (see invoke.ts); frames further out belong to its caller. */
const CALL = /^\s+at (?:runAs|invoke) /;

/** The real path of the folder, as it appears in stack traces. */
export function realFolder(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}

/** `index.js:12`: the first place in the folder in the stack of the error, or of its innermost cause that has one. */
export function sourcePlace(folder: string, error: unknown): string | null {
  let place: string | null = null;
  for (const cause of causesOf(error))
    if (cause instanceof Error) place = placeInStack(folder, plainStack(cause)) ?? place;
  return place;
}

/**
 * The folder, out of these, whose code made the error: that of the innermost frame within the present call. The folder
 * of a frame in the joined plugins is known from source maps, which are read only with `usesMaps`; without it, such a
 * frame gives undefined.
 */
export function folderOfCode(folders: readonly string[], error: unknown, usesMaps: boolean): string | undefined {
  if (!(error instanceof Error)) return undefined;
  // Lines of the message do not count: it may name any file.
  for (const frame of plainStack(error)
    .split('\n')
    .filter(line => FRAME.test(line))) {
    const isJoined = frame.includes(JOINED_URL);
    if (CALL.test(frame) || (isJoined && !usesMaps)) return undefined;
    const place = sourceLine(frame);
    const found = folders.find(folder => place.includes(folder + path.sep));
    if (found !== undefined) return found;
  }
  return undefined;
}

function placeInStack(folder: string, stack: string): string | null {
  for (const text of stack.split('\n')) {
    const line = sourceLine(text);
    const at = line.indexOf(folder + path.sep);
    if (at < 0) continue;
    const [, file, row] = /^([^?:]+)(?:\?[^:]*)?:(\d+)/.exec(line.slice(at + folder.length + 1)) ?? [];
    if (file !== undefined && row !== undefined && !file.includes('node_modules')) return `${file}:${row}`;
  }
  return null;
}

/**
 * A line of a stack with the place in the sources. Places in the script of the core stay as they are: they lie in no
 * plugin's folder, and reading the source map would block the event loop. URLs of modules are decoded.
 */
function sourceLine(line: string): string {
  return percentDecoded(line.includes(BUNDLE_URL) && !line.includes(JOINED_URL) ? line : sourceStack(line));
}
