// The log of one service: its end first, then what is added to it, as long as somebody looks.
import type { Api } from './api.ts';
import { Listeners } from './listeners.ts';
import type { LogPage } from './wire.ts';

const POLL_MS = 1_000;
/** As much as the route gives at once. */
const TAIL_BYTES = 8_388_608;
const MAX_LINES = 200_000;
/** Colours that programs write for terminals. */
const COLOURS = /\u001b\[[0-9;]*m/g;

export class LogFeed {
  readonly #api: Api;
  readonly #processName: string;
  readonly #stop = new AbortController();
  #lines: string[] = [];
  #dropped = 0;
  #cursor: number | undefined;
  #fileId: string | null = null;
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

  /** Lines that were left out at the beginning, because a browser has no room for more. */
  get dropped(): number {
    return this.#dropped;
  }

  open(): void {
    void this.#read();
  }

  close(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
  }

  async #read(): Promise<void> {
    try {
      const page = await this.#api.get<LogPage>('logs', {
        process_name: this.#processName,
        tail_bytes: String(TAIL_BYTES),
        ...(this.#cursor === undefined ? {} : { cursor: String(this.#cursor) }),
        ...(this.#fileId === null ? {} : { file_id: this.#fileId }),
      });
      if (this.#stop.signal.aborted) return;
      this.failed.tell(null);
      this.#take(page);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.failed.tell((error as Error).message);
    }
    this.#timer = setTimeout(() => void this.#read(), POLL_MS);
  }

  #take({ cursor, chunk, reset, file_id: fileId }: LogPage): void {
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
      this.#dropped = 0;
    } else for (const line of lines) this.#lines.push(line);
    const excess = this.#lines.length - MAX_LINES;
    if (excess > 0) {
      this.#lines.splice(0, excess);
      this.#dropped += excess;
    }
    this.changed.tell(isAll || excess > 0 ? 'all' : lines.length);
  }
}
