// The owner's side of a database's thread: calls are sent to it one at a time, each with a deadline.
import { setTimeout as delay } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import type { Worker } from 'node:worker_threads';
import type { CallOptions, Database, RowOptions } from '../contract/database.ts';
import { Problem } from '../contract/problem.ts';
import { noteBusy, noteIdle } from './busy-threads.ts';
import { membersOf, refuseMisspelt } from './checked-argument.ts';
import { MAX_TIMER_MS } from './deadline.ts';
import { missingPart } from './missing-part.ts';
import type { SqliteReply, SqliteRequest, SqliteWorkerData } from './sqlite-worker.ts';
import { startWorker } from './worker.ts';

const TIMEOUT_MS = 30_000;
/**
 * How long after a missed deadline a thread that does not answer is terminated, unless its owner gives another time.
 * The next connection to the database rolls its work back.
 */
const STUCK_MS = 60_000;
const CLOSE_MS = 4_000;
/** How long the end of a thread is awaited. A thread that still runs then is in a call that cannot be interrupted. */
const END_MS = 500;
const PAGE_ROWS = 500;
const MAX_WAITING = 1_000;
const MEMORY_MB = 256;
const ASYNC_FRAME = /\n +at async /g;
const CALL_MEMBERS = membersOf<CallOptions>({ timeoutMs: true });
const ROW_MEMBERS = membersOf<RowOptions>({ timeoutMs: true, pageRows: true });
/** Memory for short-lived values, as statements make them: the thread would keep more of it without needing it. */
const YOUNG_MEMORY_MB = 6;

interface Pending {
  readonly id: number;
  readonly request: SqliteRequest;
  readonly deadline: NodeJS.Timeout;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

export interface SqliteOwner {
  warn(message: string): void;
  /** Called when the file may be opened by another owner. */
  closed(): void;
  readonly stuckMs?: number;
}

// biome-ignore lint/suspicious/noExplicitAny: the types of calls are those of the module that the caller names
type AnyModule = any;

export class SqliteThread implements Database<AnyModule> {
  readonly #data: SqliteWorkerData;
  readonly #owner: SqliteOwner;
  readonly #waiting: Pending[] = [];
  #current: Pending | undefined;
  #worker: Worker | undefined;
  #stuck: NodeJS.Timeout | undefined;
  /** The end of the thread before, which holds the file until then. */
  #ending: Promise<void> | undefined;
  #lastId = 0;
  #closing: Promise<void> | undefined;

  /** The thread and the file are not opened before the first call. */
  constructor(data: SqliteWorkerData, owner: SqliteOwner) {
    this.#data = data;
    this.#owner = owner;
  }

  async open(): Promise<void> {
    await this.#ask({ kind: 'open' }, TIMEOUT_MS);
  }

  async call(name: string, args?: unknown, options: CallOptions = {}): Promise<AnyModule> {
    refuseMisspelt(Object.keys(options), CALL_MEMBERS, `the call of ${name}`);
    const { timeoutMs = TIMEOUT_MS } = options;
    return this.#ask({ kind: 'call', name, args: this.#pack(name, args) }, timeoutMs);
  }

  async *rows(name: string, args?: unknown, options: RowOptions = {}): AsyncGenerator<AnyModule> {
    refuseMisspelt(Object.keys(options), ROW_MEMBERS, `the reading of ${name}`);
    const { timeoutMs = TIMEOUT_MS, pageRows = PAGE_ROWS } = options;
    this.#lastId += 1;
    const cursor = this.#lastId;
    await this.#ask({ kind: 'rows', cursor, name, args: this.#pack(name, args) }, timeoutMs);
    let isLast = false;
    try {
      while (!isLast) {
        const page = (await this.#ask({ kind: 'page', cursor, rows: pageRows }, timeoutMs)) as {
          rows: unknown[];
          isLast: boolean;
        };
        isLast = page.isLast;
        yield* page.rows;
      }
    } finally {
      // Fails when the thread has ended, which has closed its rows too.
      if (!isLast) await this.#ask({ kind: 'end', cursor }, timeoutMs).catch(() => undefined);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const pending of this.#waiting.splice(0)) this.#settle(pending, this.#closed());
    if (this.#worker !== undefined) {
      try {
        await this.#send({ kind: 'close' }, CLOSE_MS);
      } catch (error) {
        // No data is lost, because the next process to open the file reads the write-ahead log.
        this.#owner.warn(`${this.#name} was not closed in order: ${(error as Error).message}`);
      }
    }
    const ended = this.#end().finally(() => this.#owner.closed());
    await Promise.race([ended, delay(END_MS, undefined, { ref: false })]);
    this.#finish(this.#closed());
  }

  async #ask(request: SqliteRequest, timeoutMs: number): Promise<unknown> {
    if (this.#closing !== undefined) throw this.#closed();
    // The text of a stack is made only when it is read.
    const begin: { stack?: string } = {};
    Error.captureStackTrace(begin);
    try {
      return await this.#send(request, timeoutMs);
    } catch (error) {
      // The error was made when the thread answered, where no caller is on the stack.
      if (error instanceof Error) noteCallers(error, begin);
      throw error;
    }
  }

  #send(request: SqliteRequest, timeoutMs: number): Promise<unknown> {
    if (this.#waiting.length >= MAX_WAITING) {
      const detail = `${this.#name} has too many calls that wait; try again when some have been answered`;
      return Promise.reject(new Problem(503, detail, { code: 'database.busy' }));
    }
    return new Promise((resolve, reject) => {
      this.#lastId += 1;
      const id = this.#lastId;
      const deadline = setTimeout(() => this.#onDeadline(pending, timeoutMs), Math.min(timeoutMs, MAX_TIMER_MS));
      const pending: Pending = { id, request, deadline, resolve, reject };
      this.#waiting.push(pending);
      this.#next();
    });
  }

  /**
   * Only one request is with the thread at a time, so that a request that misses its deadline in the queue is never
   * executed.
   */
  #next(): void {
    if (this.#current !== undefined || this.#ending !== undefined) return;
    const pending = this.#waiting.shift();
    if (pending === undefined) return;
    this.#current = pending;
    try {
      this.#worker ??= this.#start();
      noteBusy(this.#worker);
      this.#worker.postMessage({ id: pending.id, request: pending.request });
    } catch (error) {
      this.#finish(error);
    }
  }

  #start(): Worker {
    const worker = startWorker('sqlite-worker', import.meta.url, {
      workerData: this.#data,
      name: 'sqlite',
      resourceLimits: {
        maxOldGenerationSizeMb: this.#data.memoryMb ?? MEMORY_MB,
        maxYoungGenerationSizeMb: YOUNG_MEMORY_MB,
      },
    });
    let fault: Error | undefined;
    worker.on('message', (reply: SqliteReply) => {
      if ('id' in reply) noteIdle(worker);
      if (worker === this.#worker) this.#receive(reply);
    });
    worker.on('error', error => {
      fault = error;
    });
    worker.on('exit', () => {
      noteIdle(worker);
      if (worker !== this.#worker) return;
      this.#worker = undefined;
      const reason = fault?.message ?? 'its thread ended';
      if (this.#current === undefined) this.#owner.warn(`${this.#name} failed between two calls: ${reason}`);
      const failed = `${this.#name} failed: ${reason}; try again`;
      this.#finish(missingPart(fault) ?? new Problem(503, failed, { code: 'database.unusable', cause: fault }));
    });
    return worker;
  }

  #receive(reply: SqliteReply): void {
    if ('warning' in reply) {
      this.#owner.warn(reply.warning);
      return;
    }
    if (reply.id !== this.#current?.id) return;
    if ('loss' in reply) {
      const next = reply.loss === 'removed' ? 'a new one is made' : 'the file in its place is used from now on';
      this.#owner.warn(`${this.#name} was ${reply.loss}; ${next}`);
      this.#repeat();
      return;
    }
    if ('result' in reply) {
      this.#finish(undefined, deserialize(reply.result));
      return;
    }
    const { message, code, isFault } = reply.error;
    if (reply.isOver) void this.#end();
    const error = isFault
      ? new Problem(503, message, code === undefined ? {} : { code })
      : Object.assign(new Error(message), { code });
    this.#finish(error);
  }

  /** Has the present request executed by another thread, which opens the file anew. */
  #repeat(): void {
    clearTimeout(this.#stuck);
    if (this.#current !== undefined) this.#waiting.unshift(this.#current);
    this.#current = undefined;
    void this.#end();
  }

  /** Ends the present request and sends the next. */
  #finish(error?: unknown, result?: unknown): void {
    clearTimeout(this.#stuck);
    const pending = this.#current;
    this.#current = undefined;
    if (pending !== undefined) this.#settle(pending, error, result);
    this.#next();
  }

  #settle(pending: Pending, error?: unknown, result?: unknown): void {
    clearTimeout(pending.deadline);
    if (error === undefined) pending.resolve(result);
    else pending.reject(error);
  }

  #onDeadline(pending: Pending, timeoutMs: number): void {
    const isWaiting = this.#waiting.includes(pending);
    if (isWaiting) this.#waiting.splice(this.#waiting.indexOf(pending), 1);
    else {
      this.#stuck = setTimeout(() => {
        this.#owner.warn(`${this.#name} does not answer; its thread is started again once it has ended`);
        void this.#end();
        this.#finish();
      }, this.#owner.stuckMs ?? STUCK_MS).unref();
    }
    const what = isWaiting ? 'had no turn' : 'did not answer';
    pending.reject(
      new Problem(503, `${this.#name} ${what} within ${timeoutMs} ms; try again`, { code: 'database.late' }),
    );
  }

  /**
   * Terminates the thread. The next one starts when it has ended, so that calls that never end do not add up threads.
   */
  async #end(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return this.#ending;
    this.#worker = undefined;
    this.#ending = worker.terminate().then(() => {
      this.#ending = undefined;
      this.#next();
    });
    return this.#ending;
  }

  #pack(name: string, args: unknown): Uint8Array {
    const bytes = serialize(args);
    if (bytes.length > this.#data.maxBytes) {
      throw new Error(`the arguments of ${name} are larger than ${this.#data.maxBytes} bytes`);
    }
    return bytes;
  }

  #closed(): Problem {
    return new Problem(503, `${this.#name} is closed`, { code: 'database.closed' });
  }

  get #name(): string {
    return `The database ${this.#data.file ?? 'in memory'}`;
  }
}

/** Gives the error the stack of those who await the call, or of its beginning when nobody awaits it. */
function noteCallers(error: Error, begin: { readonly stack?: string }): void {
  // The engine finds those who await this. The first is a method of the thread itself.
  Error.captureStackTrace(error);
  const { stack = '' } = error;
  if ((stack.match(ASYNC_FRAME)?.length ?? 0) > 1) return;
  error.stack = [stack, ...(begin.stack ?? '').split('\n').slice(1)].join('\n');
}
