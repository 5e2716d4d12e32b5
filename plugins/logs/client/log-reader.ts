// Reads the log of one process through the host, page after page: first its end, then the lines that were added since.
import type { HostClient } from '#core';
import { hostAnswer } from '#kit/host-answer';
import { levelInJson } from '#kit/json-level';
import { findLevel, passes } from '#kit/log-level';

const FIRST_TAIL_BYTES = 64 * 1024;
/** The most that the host gives in one answer. */
const MAX_TAIL_BYTES = 8 * 1024 * 1024;
const GROWTH = 8;
/** The beginning of a line as the host writes it, as text or JSON: time and level. */
const HEAD = /^(?:\w{3} \d{1,2}, \d{4} [\d:.,]{1,15} - |\{"time":"[^"]{24}","level":")([A-Z]{1,8})(?: - |",)/;

type Level = Parameters<typeof passes>[1];

interface Page {
  readonly size: number;
  readonly cursor: number;
  readonly chunk: string;
  /** Lines of the file that was rotated since. */
  readonly rest?: string;
  readonly reset: boolean;
  readonly file_id: string | null;
}

export class LogReader {
  readonly processName: string;
  readonly #host: HostClient;
  readonly #threshold: Level | undefined;
  /** The level of the line that was read last; a line that continues it has no level of its own. */
  #level: Level | undefined;
  #cursor = 0;
  #fileId: string | null = null;
  #hasGap = false;

  /** Lines below the threshold are left out. */
  constructor(host: HostClient, processName: string, threshold: Level | undefined) {
    this.#host = host;
    this.processName = processName;
    this.#threshold = threshold;
  }

  /** Whether more had been written at the last call of `further` than the host gives at once. */
  get hasGap(): boolean {
    return this.#hasGap;
  }

  /** At most `count` lines, the newest ones. */
  async tail(count: number): Promise<readonly string[]> {
    for (let tailBytes = FIRST_TAIL_BYTES; ; tailBytes *= GROWTH) {
      const page = await this.#page({ tail_bytes: String(Math.min(tailBytes, MAX_TAIL_BYTES)) });
      const lines = this.#linesOf(page.chunk);
      if (lines.length < count && tailBytes < MAX_TAIL_BYTES && page.size > tailBytes) continue;
      return count === 0 ? [] : lines.slice(-count);
    }
  }

  /** The lines that were written since the last call. */
  async further(): Promise<readonly string[]> {
    const position = { cursor: String(this.#cursor), ...(this.#fileId === null ? {} : { file_id: this.#fileId }) };
    const [fileId, cursor] = [this.#fileId, this.#cursor];
    const page = await this.#page({ ...position, rest: 'true', tail_bytes: String(MAX_TAIL_BYTES) });
    const { rest = '', chunk, reset, file_id: fileIdNow, size } = page;
    this.#hasGap = reset && fileIdNow !== null && fileIdNow === fileId && size > cursor;
    return [...this.#linesOf(rest), ...this.#linesOf(chunk)];
  }

  async #page(query: Readonly<Record<string, string>>): Promise<Page> {
    const answer = await this.#host.get('/logs', { process_name: this.processName, ...query });
    const page = hostAnswer<Page>(answer, { size: 0, cursor: 0, chunk: '', reset: true });
    // A log that is missing for a moment is read on from the same position.
    if (page.file_id === null) return page;
    if (page.reset && page.rest === undefined) this.#level = undefined;
    this.#cursor = page.cursor;
    this.#fileId = page.file_id;
    return page;
  }

  #linesOf(chunk: string): string[] {
    const lines = chunk.endsWith('\n') ? chunk.slice(0, -1).split('\n') : chunk === '' ? [] : chunk.split('\n');
    return lines.filter(line => {
      this.#level = levelOf(line) ?? this.#level;
      return this.#threshold === undefined || this.#level === undefined || passes(this.#level, this.#threshold);
    });
  }
}

export function gapIn({ processName }: LogReader): string {
  return `lines of ${processName} are left out here, because they came faster than they were read`;
}

/** The level of a line that the host wrote, or a service that writes JSON itself. */
function levelOf(line: string): Level | undefined {
  const [, word] = HEAD.exec(line) ?? [];
  return word === undefined ? levelInJson(line) : findLevel(word);
}
