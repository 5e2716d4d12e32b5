// One line of a log: its level, whether it is wanted, and how it is shown.
import { levelInJson } from '#kit/json-level';
import { element } from './element.ts';

/** The beginning of a line of the host, as text or JSON: its time and level. */
const BEGINNING = /^(?:[^-]{8,32} - |\{"time":"[^"]{24}","level":")(DEBUG|INFO|WARNING|ERROR|CRITICAL)(?: - |",)/;

export type Level = 'all' | 'warnings' | 'errors';

/** Enough to see, in a line of which each letter may match; many thousands of elements would hold the page up. */
const MAX_MARKS = 200;

const ERRORS: readonly string[] = ['ERROR', 'CRITICAL'];
const WARNINGS: readonly string[] = ['WARNING', ...ERRORS];

export function levelOf(line: string): string | undefined {
  return BEGINNING.exec(line)?.[1] ?? levelInJson(line);
}

/** Whether lines of this level, as `levelOf` gives it, are wanted. */
export function isShown(level: string | undefined, wanted: Level): boolean {
  return wanted === 'all' || (wanted === 'errors' ? ERRORS : WARNINGS).includes(level ?? '');
}

/** The text of a line, with the first matches of the search marked. */
export function markedText(line: string, search: string): (Node | string)[] {
  if (search === '') return [line];
  const folded = line.toLowerCase();
  // In a few scripts a letter is longer in lower case, so that the indexes would not agree.
  if (folded.length !== line.length) return [line];
  const parts: (Node | string)[] = [];
  let at = 0;
  for (let marks = 0; marks < MAX_MARKS; marks += 1) {
    const found = folded.indexOf(search, at);
    if (found < 0) break;
    parts.push(line.slice(at, found), element('mark', {}, line.slice(found, found + search.length)));
    at = found + search.length;
  }
  return [...parts, line.slice(at)];
}
