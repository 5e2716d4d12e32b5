// The names of temporary links: hidden, and with a mark of the run, so that links of an interrupted run are found and
// removed.
import { randomInt } from 'node:crypto';

const BEGIN = '.slr-';
const PATTERN = /^\.slr-[0-9a-f]{12}$/;
const MARK_LENGTH = 6;
const NUMBERS = 2 ** 24;

/** Begins at a random number, so that threads that work in one directory use different names. */
let last = randomInt(NUMBERS);

/** `runId` has at least six hexadecimal digits. */
export function temporaryName(runId: string): string {
  last = (last + 1) % NUMBERS;
  return `${prefixOf(runId)}${last.toString(16).padStart(6, '0')}`;
}

/** Whether a name is that of a temporary link of the run, or of any run without `runId`. */
export function isTemporaryName(name: string, runId = ''): boolean {
  return name.startsWith(BEGIN) && PATTERN.test(name) && name.startsWith(prefixOf(runId));
}

function prefixOf(runId: string): string {
  return `${BEGIN}${runId.slice(0, MARK_LENGTH)}`;
}
