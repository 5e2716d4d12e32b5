// Tells listeners of each change of the configuration, one after the other and outside the queue of updates.
import { AsyncLocalStorage } from 'node:async_hooks';
import PQueue from 'p-queue';
import type { ConfigChange } from '../contract/config.ts';
import type { Logger } from '../contract/log.ts';

/** Changes that each answer the one before: more than plugins that agree on a value ever need. */
const MAX_ROUNDS = 16;
/** What answers later than this cannot keep the host busy. */
const ROUND_MS = 60_000;

interface Round {
  readonly actor: string;
  /** Made by somebody who heard of the round before. */
  readonly isAnswer: boolean;
  readonly paths: readonly string[];
  readonly atMs: number;
}

/** Why an update is made: the changes that led to it, the latest last. */
export type Cause = readonly Round[];

interface ListenContext {
  readonly cause: Cause;
  isOver: boolean;
}

export class Announcements {
  readonly #log: Logger;
  readonly #queue = new PQueue({ concurrency: 1 });
  /** Of the announcement in which code runs. It outlives the announcement in what listeners left running. */
  readonly #context = new AsyncLocalStorage<ListenContext>();
  #listener: ((change: ConfigChange) => Promise<void>) | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  listen(listener: (change: ConfigChange) => Promise<void>): void {
    this.#listener = listener;
  }

  /** Whether the caller is a listener that was not done yet: what waits for a later announcement would wait for itself. */
  get isListening(): boolean {
    return this.#context.getStore()?.isOver === false;
  }

  /**
   * The changes that the caller answers. Throws when they are a loop: listeners that answer each other would go on for
   * ever. The log names them.
   */
  cause(actor: string): Cause {
    const now = performance.now();
    const rounds = (this.#context.getStore()?.cause ?? []).filter(({ atMs }) => now - atMs < ROUND_MS);
    if (rounds.length < MAX_ROUNDS) return rounds;
    const answering = rounds.filter(round => round.isAnswer).map(round => round.actor);
    const actors = [...new Set([...answering, actor])].sort().join(', ');
    const paths = [...new Set(rounds.flatMap(round => round.paths))].join(', ');
    const message = `${actors} answer each other's changes of the configuration without end (${paths})`;
    this.#log.error(`${message}; after ${MAX_ROUNDS} rounds the update of ${actor} is refused`);
    throw new Error(`${message}; this update is refused`);
  }

  /** Resolves when every listener has been told of this change and of those before it; a fault of one is logged. */
  announce(change: ConfigChange, cause: Cause): Promise<void> {
    const { actor, paths } = change;
    const round = { actor, isAnswer: cause.length > 0, paths, atMs: performance.now() };
    const context = { cause: [...cause, round], isOver: false };
    return this.#queue.add(async () => {
      try {
        await this.#context.run(context, async () => this.#listener?.(change));
      } catch (error) {
        this.#log.error('not everybody was told of a change of the configuration', error);
      } finally {
        context.isOver = true;
      }
    });
  }

  /** Runs what has nothing to do with the announcement that it was started in, such as a plugin that is set up. */
  outside<Value>(fn: () => Value): Value {
    return this.#context.exit(fn);
  }

  onIdle(): Promise<void> {
    return this.#queue.onIdle();
  }
}
