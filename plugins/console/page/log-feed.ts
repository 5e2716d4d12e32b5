// Reads the log of one service: first its end, then what is added to it, until it is closed.
import type { Api } from './api.ts';
import { Listeners } from './listeners.ts';
import type { LogPage } from './wire.ts';

const POLL_MS = 1_000;
/** Enough for most questions, and little for a slow connection. */
const FIRST_BYTES = 1_048_576;
/** The most that the route gives at once. */
const MOST_BYTES = 8_388_608;
const MAX_LINES = 200_000;
/** How many lines are dropped at once, because each time the whole list is drawn anew. */
const SPARE_LINES = 20_000;
/** The same of characters, because lines may be long. */
const MAX_CHARACTERS = 67_108_864;
const SPARE_CHARACTERS = 8_388_608;
/** Escape sequences of colours for terminals. */
const COLOURS = /\u001b\[[0-9;]*m/g;

export class LogFeed {
  readonly #api: Api;
  readonly #processName: string;
  readonly #stop = new AbortController();
  #lines: string[] = [];
  /** How many characters the lines have. */
  #characters = 0;
  #tailBytes = FIRST_BYTES;
  #isCut = false;
  #cursor: number | undefined;
  #fileId: string | null = null;
  /** Number of the last read. Answers of earlier reads are ignored. */
  #reading = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Called with the number of new lines at the end, or `all` when all lines may have changed. */
  readonly changed = new Listeners<[added: number | 'all']>();
  /** Called with the sentence of a read that failed, and with null when a read succeeds. */
  readonly failed = new Listeners<[sentence: string | null]>();

  constructor(api: Api, processName: string) {
    this.#api = api;
    this.#processName = processName;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Whether the log has older lines that are not held here. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Whether `readMore` would give more. */
  get hasMore(): boolean {
    return this.#isCut && this.#tailBytes < MOST_BYTES;
  }

  open(): void {
    void this.#read();
  }

  /** Reads the log again, from further back. */
  readMore(): void {
    this.#tailBytes = MOST_BYTES;
    this.#cursor = undefined;
    this.#fileId = null;
    clearTimeout(this.#timer);
    this.open();
  }

  close(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
  }

  async #read(): Promise<void> {
    this.#reading += 1;
    const own = this.#reading;
    const isOver = (): boolean => this.#stop.signal.aborted || own !== this.#reading;
    try {
      const page = await this.#api.get<LogPage>('logs', {
        process_name: this.#processName,
        tail_bytes: String(this.#tailBytes),
        ...(this.#cursor === undefined ? {} : { cursor: String(this.#cursor) }),
        ...(this.#fileId === null ? {} : { file_id: this.#fileId, rest: 'true' }),
      });
      if (isOver()) return;
      this.failed.tell(null);
      this.#take(page);
    } catch (error) {
      if (isOver()) return;
      this.failed.tell((error as Error).message);
    }
    this.#timer = setTimeout(() => void this.#read(), POLL_MS);
  }

  #take({ size, cursor, chunk, rest, reset, file_id: fileId }: LogPage): void {
    const isFirst = this.#cursor === undefined;
    // A log that is missing for a moment is read on from the same position.
    if (fileId === null) {
      if (isFirst) this.changed.tell('all');
      return;
    }
    this.#cursor = cursor;
    this.#fileId = fileId;
    // A log that was rotated goes on in its new file, unless that has more already than is read at once.
    const goesOn = !reset || (rest !== undefined && size <= this.#tailBytes);
    const isAll = isFirst || !goesOn;
    const lines = [...linesOf(rest), ...linesOf(chunk)];
    if (!isAll && lines.length === 0) return;
    if (isAll) {
      this.#lines = [];
      this.#characters = 0;
      this.#isCut = size > this.#tailBytes;
    }
    for (const line of lines) {
      this.#lines.push(line);
      this.#characters += line.length;
    }
    const isDropped = this.#dropOldest();
    this.changed.tell(isAll || isDropped ? 'all' : lines.length);
  }

  /** Drops the oldest lines when there are too many. Gives whether there were. */
  #dropOldest(): boolean {
    const isFew = this.#lines.length <= MAX_LINES + SPARE_LINES;
    if (isFew && this.#characters <= MAX_CHARACTERS + SPARE_CHARACTERS) return false;
    let count = 0;
    while (this.#lines.length - count > MAX_LINES || this.#characters > MAX_CHARACTERS) {
      this.#characters -= this.#lines[count]?.length ?? 0;
      count += 1;
    }
    this.#lines.splice(0, count);
    this.#isCut = true;
    return true;
  }
}

function linesOf(chunk = ''): string[] {
  const lines = chunk.replaceAll(COLOURS, '').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
