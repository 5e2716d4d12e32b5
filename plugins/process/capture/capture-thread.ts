// Output capture as the rest of the plugin uses it. The work is done in a worker thread; if that ends, a new one
// continues from the recorded positions.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Worker } from 'node:worker_threads';
import { type CapturedLines, type Logger, type LogLevel, Problem, type Rotation } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { errorText } from '#kit/error-text';
import { slugOf } from '#kit/slug';
import { startWorker } from '#kit/worker';
import type { SpoolFigures } from './capture.ts';
import { ForeignLines } from './foreign-lines.ts';
import type { CaptureTarget } from './session-options.ts';
import type { SpoolFault } from './spool-space.ts';

const RESTART_MS = 1_000;
const CLOSED = 'The output of services is being handed over; try again in a moment';
/** Limit for the young generation of the heap: lines are short-lived, and the thread would keep more without need. */
const YOUNG_MEMORY_MB = 12;
const NOTHING: SpoolFigures = { files: 0, waitingBytes: 0, readBytes: 0, readLines: 0 };

export type CaptureCall =
  | {
      readonly kind: 'open';
      readonly session: number;
      readonly target: CaptureTarget;
      readonly spoolFile: string;
    }
  | { readonly kind: 'retarget'; readonly session: number; readonly target: CaptureTarget }
  | { readonly kind: 'finish'; readonly session: number }
  | {
      readonly kind: 'write';
      readonly target: CaptureTarget;
      readonly texts: readonly string[];
      readonly spoolFile: string;
    }
  | { readonly kind: 'remove-others' }
  | { readonly kind: 'figures' }
  | { readonly kind: 'close' };

/** The figures, or the line that best explains why a process ended. */
export type CaptureResult = SpoolFigures | string | null;

export type ToWorker =
  | { readonly id: number; readonly call: CaptureCall }
  | { readonly settings: CaptureSettings }
  | { readonly rotate: true }
  | { readonly delivered: number };

export type FromWorker =
  | { readonly id: number; readonly result: CaptureResult }
  | { readonly id: number; readonly error: unknown }
  | { readonly delivery: number; readonly lines: CapturedLines }
  | { readonly spoolFault: SpoolFault | null }
  | { readonly level: 'warn' | 'error'; readonly message: string; readonly error: unknown };

interface CaptureSettings {
  readonly rotation: Rotation;
  /** Lowest level that is written to the own log. */
  readonly ownLevel: LogLevel;
}

export interface WorkerData {
  readonly directory: string;
  readonly settings: CaptureSettings;
}

interface CaptureThreadOptions {
  /** The directory of the spools. */
  readonly directory: string;
  readonly settings: () => CaptureSettings;
  /** Resolves when the own log and its stream have taken the lines. */
  readonly deliver: (lines: CapturedLines) => Promise<void>;
  readonly log: Logger;
}

interface PendingCall {
  readonly call: CaptureCall;
  resolve(result: CaptureResult): void;
  reject(error: unknown): void;
}

export class CaptureThread {
  readonly #options: CaptureThreadOptions;
  readonly #outputs = new Map<number, CapturedOutput>();
  readonly #pending = new Map<number, PendingCall>();
  #worker: Worker | undefined;
  #lastId = 0;
  #fault: SpoolFault | null = null;
  #closing: Promise<void> | undefined;
  /** The fault that was logged last; blank once a thread works. */
  #toldFault = '';

  constructor(options: CaptureThreadOptions) {
    this.#options = options;
  }

  /** Why the output of running services is lost at present; null while it is kept. */
  get fault(): string | null {
    if (this.#fault === null) return null;
    return `the disk of ${this.#options.directory} is ${this.#fault}: what the service writes is lost`;
  }

  /**
   * Continues with the spool that an earlier host left. Resolves even when that fails, because the process can be
   * supervised without its output. Throws a Problem 503 when capture has ended.
   */
  async resume(target: CaptureTarget, spoolFile = this.newSpool(target.processName)): Promise<CapturedOutput> {
    try {
      const output = await this.open(target, spoolFile);
      // A hand-over that began meanwhile has ended all watching of processes, which must not begin again.
      this.refuseClosed();
      return output;
    } catch (error) {
      // After a hand-over the next supervision continues with the spool.
      this.refuseClosed();
      this.#options.log.error(`output of ${target.processName} is lost until its next start`, error);
      return new CapturedOutput(spoolFile, target, { retarget: async () => undefined, finish: async () => null });
    }
  }

  /** Opens a new spool for a process that is about to be launched, or continues with one. */
  async open(target: CaptureTarget, spoolFile: string): Promise<CapturedOutput> {
    this.#lastId += 1;
    const session = this.#lastId;
    const output: CapturedOutput = new CapturedOutput(spoolFile, target, {
      retarget: changed => this.#unlessClosed({ kind: 'retarget', session, target: changed }),
      finish: async () => {
        const call = { kind: 'finish', session } as const;
        const reason = await this.#unlessClosed(call).finally(() => this.#outputs.delete(session));
        return reason as string | null;
      },
    });
    await this.#call({ kind: 'open', session, target, spoolFile });
    this.#outputs.set(session, output);
    return output;
  }

  /**
   * Writes lines of another program into the logs of a process, in the thread that writes its own lines: two threads
   * would rotate a log at the same time. After a hand-over that thread is the next supervision's. A thread that cannot
   * be started is only a warning: the lines are those of work that goes on.
   */
  async write(target: CaptureTarget, texts: readonly string[]): Promise<void> {
    const { settings, deliver, log } = this.#options;
    const spoolFile = this.newSpool(target.processName);
    if (!this.isClosed) {
      await this.#call({ kind: 'write', target, texts, spoolFile }).catch((error: unknown) =>
        log.warn(`lines of a build of ${target.processName} are not in its log`, error),
      );
      return;
    }
    const [rotation, ownLevel] = [() => settings().rotation, () => settings().ownLevel];
    await new ForeignLines(target, { rotation, ownLevel, deliver, log }).write(texts, spoolFile);
  }

  /** Removes spools that no present or recorded process uses. No thread is started when there are none. */
  async removeOthers(): Promise<void> {
    const names = await readdir(this.#options.directory).catch(() => []);
    if (this.#worker === undefined && !names.some(name => name.includes('.spool'))) return;
    await this.#unlessClosed({ kind: 'remove-others' });
  }

  async figures(): Promise<SpoolFigures> {
    if (this.#worker === undefined || this.isClosed) return NOTHING;
    return (await this.#call({ kind: 'figures' })) as SpoolFigures;
  }

  applySettings(): void {
    this.#post({ settings: this.#options.settings() });
  }

  /** Makes the next line of each process begin a new log file. */
  rotate(): void {
    this.#post({ rotate: true });
  }

  /** Whether capture ends or has ended, and the spools are left to the next supervision. */
  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** Throws a Problem 503 when the spools are left to the next supervision. */
  refuseClosed(): void {
    if (this.isClosed) throw new Problem(503, CLOSED);
  }

  /** Keeps every spool, so that the next host can continue. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#worker !== undefined)
      await this.#send({ kind: 'close' }).catch((error: unknown) =>
        this.#options.log.error('output capture cannot be ended in order', error),
      );
    this.#rejectPending(new Problem(503, CLOSED));
    await this.#worker?.terminate();
  }

  /** Resolves with null for a call that a hand-over leaves to the next supervision. */
  #unlessClosed(call: CaptureCall): Promise<CaptureResult> {
    return this.#call(call).catch((error: unknown) => {
      if (!this.isClosed) throw error;
      return null;
    });
  }

  async #call(call: CaptureCall): Promise<CaptureResult> {
    this.refuseClosed();
    return this.#send(call);
  }

  #send(call: CaptureCall): Promise<CaptureResult> {
    this.#worker ??= this.#startWorker();
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { call, resolve, reject });
      this.#post({ id, call });
    });
  }

  #post(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  #startWorker(): Worker {
    const workerData: WorkerData = { directory: this.#options.directory, settings: this.#options.settings() };
    const worker = startWorker('capture-worker', import.meta.url, {
      workerData,
      name: 'capture',
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEMORY_MB },
    });
    let hasSpoken = false;
    let fault: unknown;
    worker.on('message', (message: FromWorker) => {
      hasSpoken = true;
      this.#toldFault = '';
      this.#receive(message, reply => worker.postMessage(reply));
    });
    worker.on('error', error => {
      fault = error;
      this.#tellFault(error);
    });
    worker.on('exit', () => {
      if (!hasSpoken) this.#rejectCalls(fault);
      if (this.isClosed) this.#rejectPending(new Problem(503, CLOSED));
      else setTimeout(() => this.#restart(), RESTART_MS);
    });
    return worker;
  }

  /** Logs the fault of a thread once, although it may end again and again for the same reason. */
  #tellFault(error: unknown): void {
    const reason = errorText(error);
    if (reason !== this.#toldFault) this.#options.log.error('output capture failed and is started again', error);
    this.#toldFault = reason;
  }

  /**
   * Rejects the calls of a thread that ended without any answer: they are not sent again, so that no caller waits
   * forever.
   */
  #rejectCalls(fault: unknown): void {
    const reason = `the thread that reads it ended at once (${errorText(fault)}); restart Stackwarden`;
    this.#rejectPending(new Problem(503, reason, { cause: fault }));
  }

  #rejectPending(problem: Problem): void {
    for (const { reject } of this.#pending.values()) reject(problem);
    this.#pending.clear();
  }

  #restart(isFirst = true): void {
    // A thread that has ended is not replaced for a hand-over.
    if (this.isClosed) {
      this.#rejectPending(new Problem(503, CLOSED));
      return;
    }
    try {
      this.#worker = this.#startWorker();
    } catch (error) {
      if (isFirst) this.#options.log.error('output capture waits until a thread can be started', error);
      setTimeout(() => this.#restart(false), RESTART_MS);
      return;
    }
    for (const [session, { target, spoolFile }] of this.#outputs) {
      this.#post({ id: 0, call: { kind: 'open', session, target, spoolFile } });
    }
    for (const [id, { call }] of this.#pending) this.#post({ id, call });
  }

  /**
   * `reply` reaches the thread that sent the message, because a thread started later has its own count of deliveries.
   */
  #receive(message: FromWorker, reply: (answer: ToWorker) => void): void {
    if ('delivery' in message) {
      const { delivery, lines } = message;
      void this.#options.deliver(lines).finally(() => reply({ delivered: delivery }));
    } else if ('spoolFault' in message) {
      this.#tellSpace(message.spoolFault);
    } else if ('level' in message) {
      this.#options.log[message.level](message.message, message.error);
    } else {
      const pending = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if ('error' in message) pending?.reject(message.error);
      else pending?.resolve(message.result);
    }
  }

  #tellSpace(fault: SpoolFault | null): void {
    this.#fault = fault;
    const { directory, log } = this.#options;
    if (fault === null) log.warn(`${directory} can be written again: the output of services is kept`);
    else
      log.error(`the disk of ${directory} is ${fault}: the output of running services is lost until that has passed`);
  }

  /** A unique path for the spool of a new run. */
  newSpool(processName: string): string {
    const slug = slugOf(processName).slice(0, 40);
    const unique = `${process.pid.toString(36)}${Math.floor(performance.timeOrigin + performance.now() * 1_000).toString(36)}`;
    return path.join(this.#options.directory, `${slug}-${unique}${Math.random().toString(36).slice(2, 6)}.spool`);
  }
}

interface OutputCalls {
  retarget(target: CaptureTarget): Promise<unknown>;
  finish(): Promise<string | null>;
}

/** The captured output of one run of a process. */
export class CapturedOutput {
  readonly spoolFile: string;
  readonly #calls: OutputCalls;
  #target: CaptureTarget;
  #bestErrorLine: string | null = null;

  constructor(spoolFile: string, target: CaptureTarget, calls: OutputCalls) {
    this.spoolFile = spoolFile;
    this.#target = target;
    this.#calls = calls;
  }

  get target(): CaptureTarget {
    return this.#target;
  }

  /** The line that best explains why the process ended; known once `finish` has resolved. */
  get bestErrorLine(): string | null {
    return this.#bestErrorLine;
  }

  async retarget(target: CaptureTarget): Promise<void> {
    // Most changes of the configuration leave the target as it is.
    if (deepEqual(target, this.#target)) return;
    this.#target = target;
    await this.#calls.retarget(target);
  }

  /** Resolves when all output is in the logs and the spool has been removed. */
  async finish(): Promise<void> {
    this.#bestErrorLine = await this.#calls.finish();
  }
}
