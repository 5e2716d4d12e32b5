// Finds the place in a plugin's own folder that an error came from, for the person who has to fix it, and whose folder
// that is.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { causesOf } from '../kit/causes.ts';
import { errorStack } from '../kit/error-text.ts';

const FRAME = /^\s+at /;

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
    if (cause instanceof Error) place = placeInStack(folder, errorStack(cause)) ?? place;
  return place;
}

/** The one of these folders whose code was running when the error was made, the innermost call first. */
export function folderOfCode(folders: readonly string[], error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  // Without the message, which may name any file.
  for (const frame of linesOf(errorStack(error)).filter(line => FRAME.test(line))) {
    const found = folders.find(folder => frame.includes(folder + path.sep));
    if (found !== undefined) return found;
  }
  return undefined;
}

function placeInStack(folder: string, stack: string): string | null {
  for (const line of linesOf(stack)) {
    const at = line.indexOf(folder + path.sep);
    if (at < 0) continue;
    const [, file, row] = /^([^?:]+)(?:\?[^:]*)?:(\d+)/.exec(line.slice(at + folder.length + 1)) ?? [];
    if (file !== undefined && row !== undefined && !file.includes('node_modules')) return `${file}:${row}`;
  }
  return null;
}

/** Modules are told by their URLs, in which a space is encoded. */
function linesOf(stack: string): string[] {
  return stack.split('\n').map(decoded);
}

function decoded(line: string): string {
  try {
    return decodeURIComponent(line);
  } catch {
    return line;
  }
}
