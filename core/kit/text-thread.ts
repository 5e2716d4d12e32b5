// Reads texts that services and clients wrote. Large ones are read in a thread with limits of time and memory, so that
// no text stalls or ends the host.
import type { Worker } from 'node:worker_threads';
import { Problem } from '../contract/problem.ts';
import { memoryLimitBytes } from './memory-limit.ts';
import { missingPart } from './missing-part.ts';
import { plainData } from './plain-data.ts';
import { lacksProcesses, withoutProcesses } from './process-limit.ts';
import type { TextReply, TextRequest } from './text-worker.ts';
import { threadTimeMs } from './thread-time.ts';
import { startWorker } from './worker.ts';

/** Texts above this are read in the thread. */
export const LARGE_TEXT_BYTES = 64 * 1024;
/** The same for YAML, whose parser takes a hundred times as long for the worst texts. */
export const LARGE_YAML_BYTES = 4 * 1024;

const START_MS = 30_000;
/** The processor time that one call may take. */
const READ_MS = 5_000;
/**
 * The time that one call may take on a busy machine. It is shorter than TURN_MS, so that the next call gets its turn.
 */
const LONGEST_READ_MS = 20_000;
const SHORTEST_LOOK_MS = 50;
const TURN_MS = 30_000;
const IDLE_MS = 10_000;
/** A thread that has read more than this ends at once, because it keeps the memory that it took. */
const KEPT_THREAD_BYTES = 1024 * 1024;
const MAX_WAITING = 100;
const MEMORY_MB = 256;
/** The part of the memory for short-lived values; the default would take 48 MB however little there is. */
const YOUNG_MB = 8;

/** A function that reads or edits a text. Its arguments and its result can be cloned. */
// biome-ignore lint/suspicious/noExplicitAny: the types are those of the function that the caller gives
type Read = (...args: any[]) => unknown;

interface Pending {
  readonly request: TextRequest;
  readonly sizeBytes: number;
  readonly turn: NodeJS.Timeout;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * Calls `read` with the arguments: at once when the texts among them have 64 KiB at most, else in the thread, one call
 * after the other. `read` is exported, by its own name, by the module whose `import.meta.url` is `moduleUrl`, and that
 * module is loaded into the thread: it must not register anything. A format calls it so:
 *
 *     const values = await readText(import.meta.url, yamlValues, text);
 *
 * Bytes that have a buffer of their own move to the thread: the caller has them no longer. What comes out of the thread
 * is data: objects without a prototype. Throws what `read` throws, and Problems: 413 when the result is larger than
 * `plainData` allows, or the thread needs more than 5 s of the processor, 20 s in all or 256 MB (a quarter of the
 * memory where that is less), 503 when too many texts wait or the thread ends, which says nothing about the text.
 */
export function readText<Function extends Read>(
  moduleUrl: string,
  read: Function,
  ...args: Parameters<Function>
): Promise<Awaited<ReturnType<Function>>> {
  return readTextAbove(LARGE_TEXT_BYTES, moduleUrl, read, ...args);
}

/** `readText` with another size from which on texts are read in the thread, for formats that take longer. */
export async function readTextAbove<Function extends Read>(
  largeBytes: number,
  moduleUrl: string,
  read: Function,
  ...args: Parameters<Function>
): Promise<Awaited<ReturnType<Function>>> {
  const sizeBytes = Math.max(...args.map(sizeOf));
  const isLarge = sizeBytes > largeBytes;
  const result = isLarge ? await thread.ask({ moduleUrl, name: read.name, args }, sizeBytes) : await read(...args);
  return result as Awaited<ReturnType<Function>>;
}

function sizeOf(arg: unknown): number {
  if (typeof arg === 'string') return Buffer.byteLength(arg);
  return arg instanceof Uint8Array ? arg.length : 0;
}

/** Buffers that can move as a whole. */
function ownBuffers(args: readonly unknown[]): ArrayBuffer[] {
  const bytes = args.filter(arg => arg instanceof Uint8Array);
  return bytes.filter(({ length, buffer }) => length === buffer.byteLength).map(({ buffer }) => buffer as ArrayBuffer);
}

/** The thread starts with the first text, and ends after IDLE_MS without one. */
class TextThread {
  readonly #waiting: Pending[] = [];
  #current: Pending | undefined;
  #worker: Worker | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  ask(request: TextRequest, sizeBytes: number): Promise<unknown> {
    if (this.#waiting.length >= MAX_WAITING) return Promise.reject(noTurn());
    return new Promise((resolve, reject) => {
      const turn = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(pending), 1);
        reject(noTurn());
      }, TURN_MS);
      const pending: Pending = { request, sizeBytes, turn, resolve, reject };
      this.#waiting.push(pending);
      this.#next();
    });
  }

  #next(): void {
    if (this.#current !== undefined) return;
    const pending = this.#waiting.shift();
    if (pending === undefined) {
      this.#worker?.unref();
      this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
      return;
    }
    clearTimeout(this.#idle);
    clearTimeout(pending.turn);
    this.#current = pending;
    try {
      this.#worker ??= this.#start();
      this.#worker.ref();
      this.#allow(START_MS);
      this.#worker.postMessage(pending.request, ownBuffers(pending.request.args));
    } catch (error) {
      this.#finish(this.#worker === undefined ? noThread(error) : error);
    }
  }

  #start(): Worker {
    const worker = startWorker('text-worker', import.meta.url, {
      name: 'text',
      resourceLimits: { maxOldGenerationSizeMb: memoryMb(), maxYoungGenerationSizeMb: YOUNG_MB },
    });
    let failure: NodeJS.ErrnoException | undefined;
    worker.on('message', (reply: TextReply) => {
      if (worker === this.#worker) this.#receive(reply);
    });
    worker.on('error', error => {
      failure = error;
    });
    worker.on('exit', () => {
      if (worker !== this.#worker) return;
      this.#worker = undefined;
      this.#finish(failure?.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch('memory') : noThread(failure));
    });
    return worker;
  }

  #receive(reply: TextReply): void {
    if (reply.kind === 'begun') this.#allowReading(reply.thread);
    else if (reply.kind === 'result') this.#finish(undefined, plainData(reply.result, Number.POSITIVE_INFINITY));
    else if (reply.kind === 'problem') this.#finish(new Problem(reply.status, reply.detail, reply.options));
    else this.#finish(Object.assign(new Error(reply.message), { stack: reply.stack }));
  }

  #allow(ms: number, mayGoOn = () => false): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => {
      if (mayGoOn()) return;
      this.#end();
      this.#finish(tooMuch('time'));
    }, ms);
  }

  /**
   * Limits the processor time of the call rather than the time on the clock, because the machine may have other work.
   */
  #allowReading(thread: number | null): void {
    const usedMs = (): number => (thread === null ? null : threadTimeMs(thread)) ?? Number.POSITIVE_INFINITY;
    const [startedMs, beforeMs] = [performance.now(), usedMs()];
    const goOn = (): boolean => {
      const leftMs = READ_MS - (usedMs() - beforeMs);
      const wallMs = performance.now() - startedMs;
      if (!(leftMs > 0) || wallMs >= LONGEST_READ_MS) return false;
      this.#allow(Math.max(SHORTEST_LOOK_MS, Math.min(leftMs, LONGEST_READ_MS - wallMs)), goOn);
      return true;
    };
    this.#allow(READ_MS, goOn);
  }

  /** Ends the present call and begins the next. */
  #finish(error?: unknown, result?: unknown): void {
    clearTimeout(this.#deadline);
    const pending = this.#current;
    this.#current = undefined;
    if (pending !== undefined && pending.sizeBytes > KEPT_THREAD_BYTES) this.#end();
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(error);
    this.#next();
  }

  #end(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
  }
}

const thread = new TextThread();

function memoryMb(): number {
  return Math.min(MEMORY_MB, Math.floor(memoryLimitBytes() / 4 / 1024 / 1024));
}

function tooMuch(what: 'time' | 'memory'): Problem {
  return new Problem(413, `The text is too large: reading it takes too much ${what}; shorten it`);
}

/** Says what to do where that is known. */
function noThread(cause: unknown): Problem {
  if (cause instanceof Problem) return cause;
  const missing = missingPart(cause);
  if (missing !== undefined) return missing;
  if (lacksProcesses(cause)) return withoutProcesses('No thread can be started', cause);
  return new Problem(503, 'The thread that reads texts could not start, or ended; try again', { cause });
}

function noTurn(): Problem {
  return new Problem(503, 'Too many large texts are being read; try again', { headers: { 'Retry-After': '10' } });
}
