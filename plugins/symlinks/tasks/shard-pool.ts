// The threads of one task. A thread that gets no answer to the question whether a target exists is abandoned: its
// request goes to a new thread, which does not ask at that place again.
import { availableParallelism } from 'node:os';
import { Problem } from '#core';
import { mountOf, readMounts } from '#kit/mountinfo';
import { isWithin, type RawPath, rawOf, shownPath } from '../places/raw-path.ts';
import { type FromThread, type ShardName, ShardThread } from './shard-thread.ts';

const WATCH_MS = 250;
const MAX_THREADS = 4;
const MAX_LEFT_BEHIND = 16;

export interface ShardPoolOptions {
  readonly name: ShardName;
  /** Options of the shard, as plain data. */
  readonly options: unknown;
  /** How long the question whether a target exists may take. */
  readonly answerMs: number;
  /** Called with each place that does not answer; it is not asked again. */
  readonly unreachable: (place: string) => void;
}

interface Request {
  readonly make: (unreachable: readonly RawPath[]) => unknown;
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

interface Shard {
  readonly thread: ShardThread;
  request: Request | undefined;
  beats: number;
  silentMs: number;
}

export class ShardPool {
  /** How many requests are worked on at once. */
  readonly threads = Math.min(MAX_THREADS, Math.max(2, availableParallelism()));
  readonly #options: ShardPoolOptions;
  readonly #shards = new Set<Shard>();
  readonly #waiting: Request[] = [];
  readonly #unreachable: RawPath[];
  readonly #watch: NodeJS.Timeout;
  #leftBehind = 0;
  /** The beats of threads that are gone; `#pastLinks` are their links. */
  #pastBeats = 0;
  #pastLinks = 0;
  #watchedAt = performance.now();

  /** No target below `unreachable` is asked for. */
  constructor(options: ShardPoolOptions, unreachable: readonly RawPath[] = []) {
    this.#options = options;
    this.#unreachable = [...unreachable];
    this.#watch = setInterval(() => this.#look(), WATCH_MS);
  }

  /** A number that grows as long as any thread makes progress. */
  get beats(): number {
    return this.#pastBeats + sum(this.#shards, ({ thread }) => thread.pulse.beats);
  }

  /** How many links were found. */
  get links(): number {
    return this.#pastLinks + sum(this.#shards, ({ thread }) => thread.pulse.links);
  }

  /** Whether threads hang, so that this process cannot exit normally. */
  get hangs(): boolean {
    return this.#leftBehind > 0;
  }

  /** `make` gives the request as plain data. It is called again when a thread is abandoned. */
  ask(make: Request['make']): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ make, resolve, reject });
      this.#fill();
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    const shards = [...this.#shards];
    for (const shard of shards) this.#remove(shard);
    for (const { thread, request } of shards) if (request === undefined) thread.giveBack();
    await Promise.all(shards.map(({ thread, request }) => request && thread.end()));
  }

  #fill(): void {
    while (this.#waiting.length > 0) {
      const idle = [...this.#shards].find(({ request }) => request === undefined);
      if (idle === undefined && this.#shards.size >= this.threads) return;
      const request = this.#waiting.shift();
      if (request !== undefined) this.#send(idle ?? this.#start(), request);
    }
  }

  #send(shard: Shard, request: Request): void {
    shard.request = request;
    shard.silentMs = 0;
    shard.thread.ask(request.make(this.#unreachable));
  }

  #start(): Shard {
    const { name, options } = this.#options;
    const thread = ShardThread.take(name, options, {
      answered: answer => this.#receive(shard, answer),
      failed: error => {
        this.#remove(shard);
        shard.request?.reject(error);
        this.#fill();
      },
    });
    const shard: Shard = { thread, request: undefined, beats: 0, silentMs: 0 };
    this.#shards.add(shard);
    return shard;
  }

  #receive(shard: Shard, answer: FromThread): void {
    const { request } = shard;
    shard.request = undefined;
    if ('error' in answer) request?.reject(new Error(answer.error));
    else request?.resolve(answer.answer);
    this.#fill();
  }

  #look(): void {
    // Limited, because a pause of this whole process must not count as silence of its threads.
    const now = performance.now();
    const elapsed = Math.min(now - this.#watchedAt, 2 * WATCH_MS);
    this.#watchedAt = now;
    for (const shard of this.#shards) {
      const { beats, tested } = shard.thread.pulse;
      shard.silentMs = beats === shard.beats ? shard.silentMs + elapsed : 0;
      shard.beats = beats;
      if (tested !== undefined && shard.silentMs >= this.#options.answerMs) void this.#leaveBehind(shard, tested);
    }
  }

  async #leaveBehind(shard: Shard, directory: RawPath): Promise<void> {
    const { request } = shard;
    this.#remove(shard);
    shard.thread.leaveBehind();
    this.#leftBehind += 1;
    if (!this.#unreachable.some(place => isWithin(directory, place))) {
      const mount = mountOf(shownPath(directory), await readMounts());
      const place = mount === undefined || mount.directory === '/' ? directory : rawOf(mount.directory);
      this.#unreachable.push(place);
      this.#options.unreachable(shownPath(place));
    }
    if (request === undefined) return;
    if (this.#leftBehind > MAX_LEFT_BEHIND) {
      const detail = `Too many places do not answer, the last of them ${shownPath(directory)}; see to their mounts.`;
      request.reject(new Problem(503, detail, { code: 'stalled' }));
    } else this.#waiting.unshift(request);
    this.#fill();
  }

  #remove(shard: Shard): void {
    this.#shards.delete(shard);
    this.#pastBeats += shard.thread.pulse.beats;
    this.#pastLinks += shard.thread.pulse.links;
  }
}

function sum(shards: Iterable<Shard>, of: (shard: Shard) => number): number {
  let total = 0;
  for (const shard of shards) total += of(shard);
  return total;
}
