// Takes a sample at each interval and has it written. While that is impossible, the newest wait in memory.
import type { Host } from '#core';
import { withDeadline } from '#kit/deadline';
import type {} from '../metrics/contract.ts';
import type { HistorySettings } from './settings.ts';

const MAX_WAITING = 720;
const BATCH = 60;
/** The same fault is told again after this time. */
const TELL_MS = 60_000;
/** Less than a disposer has. */
const CLOSE_MS = 4_000;

export interface SampleRecorderOptions {
  settings(): Pick<HistorySettings, 'enabled' | 'intervalMs'>;
  /** Writes samples, each as JSON. */
  write(texts: readonly string[]): Promise<void>;
}

export class SampleRecorder {
  readonly #host: Host;
  readonly #options: SampleRecorderOptions;
  #timer: NodeJS.Timeout | undefined;
  #dueMs = 0;
  readonly #waiting: string[] = [];
  #writing: Promise<void> | undefined;
  #fault: { readonly message: string; readonly toldMs: number } | undefined;

  constructor(host: Host, options: SampleRecorderOptions) {
    this.#host = host;
    this.#options = options;
  }

  /** Why samples wait; null while they are written. */
  get fault(): string | null {
    return this.#fault?.message ?? null;
  }

  begin(): void {
    clearTimeout(this.#timer);
    this.#dueMs = performance.now();
    this.#next();
  }

  /** Goes on by a changed interval. Does nothing before the beginning. */
  reschedule(): void {
    if (this.#timer !== undefined) this.begin();
  }

  /** Writes what waits, as far as it can be written now. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#waiting.length === 0) return;
    await withDeadline(() => this.#write(), CLOSE_MS, 'its database').catch(error => {
      this.#host.log.warn(`${this.#waiting.length} samples of the history are lost`, error);
    });
  }

  /** Keeps to the clock: the next sample is due an interval after this one was, and what was missed is left out. */
  #next(): void {
    const { intervalMs } = this.#options.settings();
    const nowMs = performance.now();
    this.#dueMs += intervalMs * Math.max(1, Math.ceil((nowMs - this.#dueMs) / intervalMs));
    this.#timer = setTimeout(() => {
      if (this.#host.signal.aborted) return;
      this.#next();
      void this.#take();
    }, this.#dueMs - nowMs);
  }

  async #take(): Promise<void> {
    const { enabled, intervalMs } = this.#options.settings();
    if (!enabled) return;
    try {
      const sampler = this.#host.use('metrics.sampler');
      const sample = await sampler.sample(intervalMs / 2);
      this.#waiting.push(JSON.stringify(sampler.kept(sample)));
      // Those at the front are being written.
      if (this.#waiting.length > MAX_WAITING) this.#waiting.splice(this.#writing === undefined ? 0 : BATCH, 1);
      await this.#write();
      if (this.#fault !== undefined) this.#host.log.info('samples are kept again, with those that waited');
      this.#fault = undefined;
    } catch (error) {
      // What waits goes into the file that follows.
      if ((error as { code?: unknown }).code !== 'database.closed') this.#tell(error);
    }
  }

  /** The oldest first; a second call joins the one that runs. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const texts = this.#waiting.slice(0, BATCH);
      await this.#options.write(texts);
      this.#waiting.splice(0, texts.length);
    }
  }

  #tell(error: unknown): void {
    const { message } = error as Error;
    const nowMs = performance.now();
    if (this.#fault?.message === message && nowMs - this.#fault.toldMs < TELL_MS) return;
    this.#fault = { message, toldMs: nowMs };
    this.#host.log.error(`a sample is not kept yet; ${this.#waiting.length} wait in memory`, error);
  }
}
