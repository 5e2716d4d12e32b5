// Ends the processes of one service. Nothing is started beside processes that could not be ended.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type NamedBlock, Problem } from '#core';
import { askAgain } from '#kit/ask-again';
import { lacksDescriptors } from '#kit/descriptors';
import { attempt } from './attempt.ts';
import type { ProcessRecord } from './state-file.ts';
import { allSurvivorsSince, killProcesses, type StopTarget, stopProcesses, survivors } from './stop.ts';
import { type KnownStopPolicy, stopGraceMsOf, stopSignalOf } from './stop-policy.ts';
import type { Supervision } from './supervision.ts';

/** The age that a process table may have for messages of a shutdown. */
const LIVING_MAX_AGE_MS = 500;
/** Longer than a stop takes beyond its grace, with the look for processes before it and the last output after it. */
const BEYOND_GRACE_MS = 90_000;

export class Ending {
  readonly #with: Pick<Supervision, 'host' | 'stopPolicy'>;
  readonly #block: () => NamedBlock;
  /** Processes of an earlier run that could not be ended. */
  #leftover: StopTarget | undefined;
  #policy: KnownStopPolicy | undefined;
  /** The latest stop; resolves also when it fails. */
  #latest: Promise<void> | undefined;

  constructor(block: () => NamedBlock, supervision: Pick<Supervision, 'host' | 'stopPolicy'>) {
    this.#block = block;
    this.#with = supervision;
  }

  /** The latest known stop policy, even when the plugin that gave it is gone. */
  get policy(): KnownStopPolicy | undefined {
    this.#policy = this.#with.stopPolicy(this.#block().configKey) ?? this.#policy;
    return this.#policy;
  }

  /** Longer than a stop of what an earlier host or run has left behind. */
  get limitMs(): number {
    return stopGraceMsOf(this.#block(), this.policy) + BEYOND_GRACE_MS;
  }

  /** Takes over the stop policy that an earlier host recorded. */
  recall({ stop_policy: policy }: Partial<ProcessRecord>): void {
    if (policy !== undefined) this.#policy = { signal: policy.signal, graceMs: policy.grace_ms, tier: policy.tier };
  }

  /** Throws a Problem 409 while processes that could not be ended still live. */
  refuseBesideLeftover(): void {
    const left = this.#leftover === undefined ? [] : survivors(this.#leftover);
    const pids = left.map(({ pid }) => pid).join(', ');
    const { processName } = this.#block();
    if (left.length > 0)
      throw new Problem(409, `What could not be ended of ${processName} still lives (${pids}); end that first`);
    this.#leftover = undefined;
  }

  /** Throws a Problem 500 when some survive. */
  stop(target: StopTarget, hurry?: AbortSignal): Promise<void> {
    const block = this.#block();
    const { policy } = this;
    const stopping = stopProcesses(target, stopSignalOf(block, policy), stopGraceMsOf(block, policy), hurry);
    this.#latest = stopping.catch(() => undefined);
    return stopping;
  }

  /** Resolves when no stop is under way. Until then, processes that outlive their leader may still write output. */
  async over(): Promise<void> {
    await this.#latest;
  }

  /** Never throws: processes that cannot be ended are logged, and prevent further starts. */
  async clear(target: StopTarget): Promise<void> {
    try {
      await this.stop(target);
    } catch (error) {
      this.#leftover = target;
      this.#with.host.log.error(`what ${target.processName} left behind could not be ended`, error);
    }
  }

  /**
   * Ends the processes that outlived the leader of their run, and calls `onFound` before if there are any. Never
   * throws.
   */
  async clearRest(target: StopTarget, onFound: () => void): Promise<void> {
    const failure = `whether ${target.processName} left processes behind cannot be told`;
    await attempt(this.#with.host.log, failure, async () => {
      const endedMs = performance.now();
      // Runs that end together share one process table.
      await nextTurn();
      const left = await askAgain(() => allSurvivorsSince(target, endedMs));
      if (left.length === 0) return;
      onFound();
      await this.clear(target);
    });
  }

  /** Takes note of a run whose leader has ended while other processes survive. */
  leave(target: StopTarget): void {
    this.#leftover = target;
  }

  /** Kills the processes of the run, or what is left of an earlier one, without waiting. */
  kill(run: StopTarget | undefined): void {
    const target = run ?? this.#leftover;
    if (target !== undefined) killProcesses(target);
  }

  /** Ids of the processes of the run, or of what is left of an earlier one, that are known to live. */
  livingPids(run: StopTarget | undefined): number[] {
    const target = run ?? this.#leftover;
    if (target === undefined) return [];
    try {
      return survivors(target, LIVING_MAX_AGE_MS).map(stat => stat.pid);
    } catch (error) {
      if (lacksDescriptors(error)) return [];
      throw error;
    }
  }
}
