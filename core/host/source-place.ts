// Finds the place in a plugin's own folder that an error came from, for the person who has to fix it.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { causesOf } from '../kit/causes.ts';
import { errorStack } from '../kit/error-text.ts';

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

function placeInStack(folder: string, stack: string): string | null {
  for (const line of stack.split('\n')) {
    const at = line.indexOf(folder + path.sep);
    if (at < 0) continue;
    const [, file, row] = /^([^?:]+)(?:\?[^:]*)?:(\d+)/.exec(line.slice(at + folder.length + 1)) ?? [];
    if (file !== undefined && row !== undefined && !file.includes('node_modules')) return `${decoded(file)}:${row}`;
  }
  return null;
}

function decoded(file: string): string {
  try {
    return decodeURIComponent(file);
  } catch {
    return file;
  }
}
