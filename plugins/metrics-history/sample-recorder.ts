// Takes a sample at each interval and has it written. While writing fails, the newest samples wait in memory.
import type { Host } from '#core';
import { withDeadline } from '#kit/deadline';
import type {} from '../metrics/contract.ts';
import type { HistorySettings } from './settings.ts';

const MAX_WAITING = 720;
const BATCH = 60;
/** How long the same fault is not logged again. */
const TELL_MS = 60_000;
/** How long the last write may take; shorter than the host's deadline for a disposer. */
const CLOSE_MS = 4_000;

export interface SampleRecorderOptions {
  settings(): Pick<HistorySettings, 'enabled' | 'intervalMs'>;
  /** Writes samples, each as JSON text. */
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

  /** Why samples wait in memory; null while they are written. */
  get fault(): string | null {
    return this.#fault?.message ?? null;
  }

  begin(): void {
    clearTimeout(this.#timer);
    this.#dueMs = performance.now();
    this.#next();
  }

  /** Applies a changed interval. Does nothing before `begin`. */
  reschedule(): void {
    if (this.#timer !== undefined) this.begin();
  }

  /** Writes the samples that wait, as far as that is possible now. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#waiting.length === 0) return;
    await withDeadline(() => this.#write(), CLOSE_MS, 'its database').catch(error => {
      this.#host.log.warn(`${this.#waiting.length} samples of the history are lost`, error);
    });
  }

  /** Sets the timer for the next sample, whole intervals after the last due time; missed samples are skipped. */
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
    if (!enabled) {
      // Nothing is to be kept. What waits is written once samples are kept again, or at the end.
      this.#fault = undefined;
      return;
    }
    try {
      const sampler = this.#host.use('metrics.sampler');
      const sample = await sampler.sample(intervalMs / 2);
      this.#waiting.push(JSON.stringify(sampler.kept(sample)));
      // While a write runs, the first batch is being written; the oldest sample after that is dropped.
      if (this.#waiting.length > MAX_WAITING) this.#waiting.splice(this.#writing === undefined ? 0 : BATCH, 1);
      await this.#write();
      if (this.#fault !== undefined) this.#host.log.info('samples are kept again, with those that waited');
      this.#fault = undefined;
    } catch (error) {
      // A closed database was replaced by that of another file, into which the samples go next.
      if ((error as { code?: unknown }).code !== 'database.closed') this.#tell(error);
    }
  }

  /** Writes the samples that wait, the oldest first. A second call joins the one that runs. */
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
