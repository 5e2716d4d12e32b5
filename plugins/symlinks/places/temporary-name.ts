// The names of links that replace others: hidden, and telling which run has made them, so that what it leaves behind is
// found and removed.
import { randomInt } from 'node:crypto';

const BEGIN = '.slr-';
const PATTERN = /^\.slr-[0-9a-f]{12}$/;
const MARK_LENGTH = 6;
const NUMBERS = 2 ** 24;

/** Threads begin anywhere, so that two of them in one directory have different names. */
let last = randomInt(NUMBERS);

/** `runId` is that of the run: at least six hexadecimal digits. */
export function temporaryName(runId: string): string {
  last = (last + 1) % NUMBERS;
  return `${prefixOf(runId)}${last.toString(16).padStart(6, '0')}`;
}

/** Whether a name is one of a run, or of any run without `runId`. */
export function isTemporaryName(name: string, runId = ''): boolean {
  return name.startsWith(BEGIN) && PATTERN.test(name) && name.startsWith(prefixOf(runId));
}

function prefixOf(runId: string): string {
  return `${BEGIN}${runId.slice(0, MARK_LENGTH)}`;
}
