// Reads the lines `NAME=value` of a file, also behind the byte order mark with which editors on Windows begin one.
import { parseEnv } from 'node:util';

export function variablesIn(text: string): Readonly<Record<string, string | undefined>> {
  return parseEnv(text.replace(/^\uFEFF/, ''));
}
