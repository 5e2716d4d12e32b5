// Remembers the last lines of a process, and picks the one that best explains why it ended.
import type { LogLevel } from '#core';
import type { OutputLines } from './output-lines.ts';

const REMEMBERED_LINES = 200;
const MAX_REASON_LENGTH = 500;

const ERROR_WORDS =
  /\b(error|fatal|critical|exception|failed|failure|cannot|can't|unable|denied|refused|not found|invalid|missing|panic)\b/i;
/** Lines around the error in a stack trace. Node and .NET put some with words for errors behind it. */
const STACK_FRAME = /^\s*(at\s|File "|\^|goroutine |\.\.\. \d+ more|--- End of |Emitted 'error' event )/;

interface RecentLine {
  readonly level: LogLevel;
  readonly text: string;
}

export class RecentLines {
  readonly #lines: RecentLine[] = [];

  add(lines: OutputLines): void {
    for (let index = Math.max(0, lines.count - REMEMBERED_LINES); index < lines.count; index += 1)
      this.#lines.push({ level: lines.level(index), text: lines.text(index) });
    this.#lines.splice(0, this.#lines.length - REMEMBERED_LINES);
  }

  /** The last line with a word for an error, otherwise the last. */
  bestErrorLine(): string | null {
    const candidates = this.#lines.filter(({ text }) => !STACK_FRAME.test(text));
    const severe = candidates.findLast(
      ({ level, text }) => level === 'ERROR' || level === 'CRITICAL' || ERROR_WORDS.test(text),
    );
    return (severe ?? candidates.at(-1))?.text.slice(0, MAX_REASON_LENGTH) ?? null;
  }
}
