// Finds the place in a plugin's own folder that an error came from, for the person who has to fix it, and whose folder
// that is.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { causesOf } from '../kit/causes.ts';
import { plainStack } from '../kit/error-text.ts';
import { percentDecoded } from '../kit/percent-decoded.ts';
import { sourceStack } from '../kit/source-stack.ts';
import { JOINED_URL } from './joined-plugins.ts';

const BUNDLE_URL = new URL('.', JOINED_URL).href;
const FRAME = /^\s+at /;
/** Frames further out are of whoever made the call (see core/host/invoke.ts). */
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
 * The one of these folders whose code was running when the error was made: that of the innermost frame within the
 * present call. Whose a frame of the joined plugins is, source maps tell, which are looked up where `usesMaps`.
 */
export function folderOfCode(folders: readonly string[], error: unknown, usesMaps: boolean): string | undefined {
  if (!(error instanceof Error)) return undefined;
  // Without the message, which may name any file.
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
 * The line of a stack with the place in the sources. The host's own lines stay as they are: they lie in no plugin's
 * folder, and to read their map would hold everybody up. Modules are told by their URLs, in which a space is encoded.
 */
function sourceLine(line: string): string {
  return percentDecoded(line.includes(BUNDLE_URL) && !line.includes(JOINED_URL) ? line : sourceStack(line));
}
