// The log of one service: its end first, then what is added to it, as long as somebody looks.
import type { Api } from './api.ts';
import { Listeners } from './listeners.ts';
import type { LogPage } from './wire.ts';

const POLL_MS = 1_000;
/** Enough for most questions, and little for a slow line. */
const FIRST_BYTES = 1_048_576;
/** As much as the route gives at once. */
const MOST_BYTES = 8_388_608;
const MAX_LINES = 200_000;
/** So many are let go at once, because what is shown is then made anew. */
const SPARE_LINES = 20_000;
/** Colours that programs write for terminals. */
const COLOURS = /\u001b\[[0-9;]*m/g;

export class LogFeed {
  readonly #api: Api;
  readonly #processName: string;
  readonly #stop = new AbortController();
  #lines: string[] = [];
  #tailBytes = FIRST_BYTES;
  #isCut = false;
  #cursor: number | undefined;
  #fileId: string | null = null;
  /** Number of the last read, which alone counts. */
  #reading = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Told of the number of new lines at the end, or that everything is another. */
  readonly changed = new Listeners<[added: number | 'all']>();
  /** Told of the sentence of a read that failed, and null when one succeeds. */
  readonly failed = new Listeners<[sentence: string | null]>();

  constructor(api: Api, processName: string) {
    this.#api = api;
    this.#processName = processName;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Whether the log begins before its first line here. */
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

  /** Reads it again, from further back. */
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
        ...(this.#fileId === null ? {} : { file_id: this.#fileId }),
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

  #take({ size, cursor, chunk, reset, file_id: fileId }: LogPage): void {
    const isFirst = this.#cursor === undefined;
    this.#cursor = cursor;
    this.#fileId = fileId;
    if (chunk === '' && !(reset && this.#lines.length > 0)) {
      if (isFirst) this.changed.tell('all');
      return;
    }
    const lines = chunk.replaceAll(COLOURS, '').split('\n');
    if (lines.at(-1) === '') lines.pop();
    const isAll = reset || isFirst;
    if (isAll) {
      this.#lines = lines;
      this.#isCut = size > this.#tailBytes;
    } else for (const line of lines) this.#lines.push(line);
    const isTooMuch = this.#lines.length > MAX_LINES + SPARE_LINES;
    if (isTooMuch) {
      this.#lines.splice(0, this.#lines.length - MAX_LINES);
      this.#isCut = true;
    }
    this.changed.tell(isAll || isTooMuch ? 'all' : lines.length);
  }
}
