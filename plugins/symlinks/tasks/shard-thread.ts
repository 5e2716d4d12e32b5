// Threads that answer the requests of a shard. When its task has ended, a thread waits for the next task of this
// process, because starting a thread costs as much as looking at ten thousand links.
import type { Worker } from 'node:worker_threads';
import { startWorker } from '#kit/worker';
import { Pulse, pulseMemory } from './pulse.ts';

const LIMITS = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 4 };

/** The shards that shards.ts holds. */
export type ShardName = 'rewrite' | 'migrate' | 'apply' | 'backup' | 'restore';

/** A message to a thread: the shard that it runs from now on, or a request to that shard. */
export type ToThread =
  | { readonly shard: ShardName; readonly options: unknown; readonly memory: SharedArrayBuffer }
  | { readonly request: unknown };

export type FromThread = { readonly answer: unknown } | { readonly error: string };

export interface ShardListener {
  answered(answer: FromThread): void;
  /** The thread has ended because of an error. */
  failed(error: Error): void;
}

/** Threads that wait for a task. They end with the process. */
const waiting = new Set<ShardThread>();

export class ShardThread {
  readonly #worker: Worker;
  #listener: ShardListener | undefined;
  #pulse = new Pulse(pulseMemory());

  private constructor() {
    this.#worker = startWorker('../shard-worker', import.meta.url, { resourceLimits: LIMITS });
    this.#worker.on('message', (answer: FromThread) => this.#listener?.answered(answer));
    this.#worker.on('error', error => {
      waiting.delete(this);
      this.#listener?.failed(error);
    });
  }

  /** Takes a thread that waits, or starts a new one. */
  static take(shard: ShardName, options: unknown, listener: ShardListener): ShardThread {
    const [thread = new ShardThread()] = waiting;
    waiting.delete(thread);
    const memory = pulseMemory();
    thread.#pulse = new Pulse(memory);
    thread.#listener = listener;
    thread.#worker.ref();
    thread.#send({ shard, options, memory });
    return thread;
  }

  /** The pulse of the present task. */
  get pulse(): Pulse {
    return this.#pulse;
  }

  ask(request: unknown): void {
    this.#send({ request });
  }

  /** Lets a thread without a request wait for the next task. */
  giveBack(): void {
    this.#listener = undefined;
    this.#worker.unref();
    waiting.add(this);
  }

  /** Abandons a thread that may never end. */
  leaveBehind(): void {
    this.#pulse.leave();
    this.#listener = undefined;
    this.#worker.unref();
  }

  async end(): Promise<void> {
    this.#listener = undefined;
    await this.#worker.terminate();
  }

  #send(message: ToThread): void {
    this.#worker.postMessage(message);
  }
}
