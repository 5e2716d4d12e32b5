// Lines of one process on their way between threads, as few values: each value that is sent costs time of both.
import type { LogLevel, LogLine } from '#core';

const LEVELS: readonly LogLevel[] = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'];

/** Lines that have come at the same time. */
export interface PackedLines {
  readonly at: number;
  readonly processName: string | undefined;
  /** A digit for each line. */
  readonly levels: string;
  /** The texts, which hold no line breaks, with a line break between them. */
  readonly texts: string;
}

export function packLines(lines: readonly LogLine[]): PackedLines {
  return {
    at: lines[0]?.at ?? 0,
    processName: lines[0]?.processName,
    levels: lines.map(({ level }) => LEVELS.indexOf(level)).join(''),
    texts: lines.map(({ text }) => text).join('\n'),
  };
}

export function unpackLines({ at, processName, levels, texts }: PackedLines): LogLine[] {
  if (levels === '') return [];
  const owner = processName === undefined ? {} : { processName };
  return texts.split('\n').map((text, index) => {
    return { at, level: LEVELS[Number(levels[index])] ?? 'INFO', text, ...owner };
  });
}
