// Tells listeners of each change of the configuration, one after the other and outside the queue of updates.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ConfigChange } from '../contract/config.ts';
import type { Logger } from '../contract/log.ts';
import { WorkQueue } from '../kit/work-queue.ts';

/**
 * The most changes in a row, each an answer to the one before. Plugins that agree on a value in the end need fewer.
 */
const MAX_ROUNDS = 16;
/** A change older than this no longer counts as part of a loop, because changes that slow cannot keep the host busy. */
const ROUND_MS = 60_000;

interface Round {
  readonly actor: string;
  /** Whether the change was made by a listener of an earlier one. */
  readonly isAnswer: boolean;
  readonly paths: readonly string[];
  readonly atMs: number;
}

/** The changes that led to an update, the latest last. */
export type Cause = readonly Round[];

interface ListenContext {
  readonly of: Announcements;
  readonly cause: Cause;
  isOver: boolean;
}

/**
 * The announcement in which the present code runs; code that a listener left running keeps it after the announcement's
 * end. One storage for all hosts of a process, because each one costs every promise that is made.
 */
const listening = new AsyncLocalStorage<ListenContext>();

export class Announcements {
  readonly #log: Logger;
  readonly #queue = new WorkQueue({ concurrency: 1 });
  #listener: ((change: ConfigChange) => Promise<void>) | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  listen(listener: (change: ConfigChange) => Promise<void>): void {
    this.#listener = listener;
  }

  /**
   * Whether the caller is a listener that has not finished; if it waited for a later announcement, it would wait for
   * itself.
   */
  get isListening(): boolean {
    return this.#context?.isOver === false;
  }

  /**
   * The changes that the caller answers. Logs and throws an Error when they form a loop, because listeners that answer
   * each other's changes would continue endlessly.
   */
  cause(actor: string): Cause {
    const now = performance.now();
    const rounds = (this.#context?.cause ?? []).filter(({ atMs }) => now - atMs < ROUND_MS);
    if (rounds.length < MAX_ROUNDS) return rounds;
    const answering = rounds.filter(round => round.isAnswer).map(round => round.actor);
    const actors = [...new Set([...answering, actor])].sort().join(', ');
    const paths = [...new Set(rounds.flatMap(round => round.paths))].join(', ');
    const message = `${actors} answer each other's changes of the configuration without end (${paths})`;
    this.#log.error(`${message}; after ${MAX_ROUNDS} rounds the update of ${actor} is refused`);
    throw new Error(`${message}; this update is refused`);
  }

  /**
   * Resolves when every listener has finished with this change and those before it. An error of a listener is logged.
   */
  announce(change: ConfigChange, cause: Cause): Promise<void> {
    const { actor, paths } = change;
    const round = { actor, isAnswer: cause.length > 0, paths, atMs: performance.now() };
    const context = { of: this, cause: [...cause, round], isOver: false };
    return this.#queue.add(async () => {
      try {
        await listening.run(context, async () => this.#listener?.(change));
      } catch (error) {
        this.#log.error('not everybody was told of a change of the configuration', error);
      } finally {
        context.isOver = true;
      }
    });
  }

  /**
   * Runs `fn` so that its updates do not count as answers to the present announcement, such as the set-up of a plugin.
   */
  outside<Value>(fn: () => Value): Value {
    return listening.exit(fn);
  }

  onIdle(): Promise<void> {
    return this.#queue.onIdle();
  }

  get #context(): ListenContext | undefined {
    const context = listening.getStore();
    return context?.of === this ? context : undefined;
  }
}
