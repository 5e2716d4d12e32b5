// Reads the end of a log for people and models: whole lines, without secrets.
import { readSync } from 'node:fs';
import { redactText } from '../redaction/secret-text.ts';
import type { ScannedFile } from './log-scan.ts';

/** The most bytes of a character in UTF-8. */
const BYTES_PER_CHAR = 4;
const NEWLINE = 0x0a;

export interface TailRequest {
  readonly file: ScannedFile;
  readonly maxChars: number;
  readonly secrets: readonly string[];
}

/** At most the last `maxChars` characters. It begins within a line only if that line is longer. */
export function readTail({ file, maxChars, secrets }: TailRequest): string {
  const wanted = Math.min(file.sizeBytes, maxChars * BYTES_PER_CHAR);
  const start = file.sizeBytes - wanted;
  const buffer = Buffer.alloc(wanted);
  const bytes = buffer.subarray(0, readSync(file.descriptor, buffer, 0, wanted, start));
  // Part of a line might show a secret without the name that marks it.
  const from = start === 0 ? 0 : bytes.indexOf(NEWLINE) + 1 || bytes.length;
  const text = redactText(bytes.toString('utf8', from), secrets);
  if (text.length <= maxChars) return text;
  const newline = text.indexOf('\n', text.length - maxChars - 1);
  const isOneLine = newline === -1 || newline === text.length - 1;
  return text.slice(isOneLine ? -maxChars : newline + 1);
}
