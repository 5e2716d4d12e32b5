// Starts many processes in dependency order, independent ones concurrently; no process can delay the others
// indefinitely.
import { setTimeout as delay } from 'node:timers/promises';
import { turnWithTime } from '#kit/turns';
import type { ProcessSnapshot } from '../contract.ts';
import type { SupervisedProcess } from '../supervise/supervised-process.ts';
import type { BootOrder } from './boot-order.ts';

/** A start that has waited this long no longer delays others. */
const STALLED_MS = 5_000;
/**
 * The starts that wait for another one begin within this time after its end; if none makes progress by then, none will.
 */
const FOLLOWED_MS = 100;
const READY_POLL_MS = 250;

export interface OrderedStartOptions {
  /** Must not reject. */
  start(process: SupervisedProcess): Promise<void>;
  isReady(process: SupervisedProcess): Promise<boolean>;
  readinessTimeoutMs(): number;
  /** Called when everything that the process needs is ready, or will not become ready. */
  onBegin(processName: string, needs: readonly string[]): void;
  /** Called when the process is up, or its failure is final. */
  onEnd(processName: string): void;
  /** See `Host.paced`. */
  paced(ms: number): number;
}

/** A start that is not done. */
interface PendingStart {
  readonly process: SupervisedProcess;
  /** Runs while the start waits, until it counts as stalled. */
  timer: NodeJS.Timeout | undefined;
  isStalled: boolean;
  /** Ends the wait for the start, which itself continues. */
  leave(): void;
}

export class OrderedStart {
  readonly #options: OrderedStartOptions;
  /** Processes whose start makes progress: it is neither done nor stalled. */
  readonly #progressing = new Set<SupervisedProcess>();
  readonly #pending = new Map<string, PendingStart>();
  #looking: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(options: OrderedStartOptions) {
    this.#options = options;
  }

  /**
   * Starts each process as soon as what it needs is ready, or has failed. A start that stalls on a wait no longer
   * delays its dependents once no other start makes progress, because what it waits for may be one of those. Such a
   * start continues in the background.
   */
  async run(processes: readonly SupervisedProcess[], { needs }: BootOrder): Promise<void> {
    const byName = new Map(processes.map(process => [process.block.processName, process]));
    const needed = new Set([...needs.values()].flatMap(names => [...names]));
    const started = new Map<string, Promise<void>>();
    const start = (process: SupervisedProcess): Promise<void> => {
      const { processName } = process.block;
      const known = started.get(processName);
      if (known !== undefined) return known;
      const before = [...(needs.get(processName) ?? [])].flatMap(name => byName.get(name) ?? []);
      const run = Promise.all(before.map(start)).then(async () => {
        const names = before.map(({ block }) => block.processName);
        await turnWithTime();
        this.#options.onBegin(processName, names);
        await this.one(process);
        if (needed.has(processName)) await this.#untilReady(process);
        this.#options.onEnd(processName);
      });
      started.set(processName, run);
      return run;
    };
    await Promise.all(processes.map(start));
  }

  /** Resolves when the start is done, or is stalled while no other start makes progress. */
  async one(process: SupervisedProcess): Promise<void> {
    const { processName } = process.block;
    this.#progressing.add(process);
    const settling = this.#options.start(process);
    if (!this.#ended) {
      let leave: () => void = () => undefined;
      const left = new Promise<void>(resolve => {
        leave = resolve;
      });
      const pending: PendingStart = { process, timer: undefined, isStalled: false, leave };
      this.#pending.set(processName, pending);
      this.follow(process.snapshot());
      await Promise.race([settling, left]);
      clearTimeout(pending.timer);
      this.#pending.delete(processName);
    }
    this.#noProgress(process);
  }

  /** Takes note of whether a start waits for a dependency or for the end of a hold. */
  follow({ processName, waitingFor, held }: ProcessSnapshot): void {
    const pending = this.#pending.get(processName);
    if (pending === undefined) return;
    if (waitingFor.length > 0 || held !== null) {
      pending.timer ??= setTimeout(() => {
        pending.isStalled = true;
        this.#noProgress(pending.process);
      }, this.#options.paced(STALLED_MS)).unref();
      return;
    }
    clearTimeout(pending.timer);
    pending.timer = undefined;
    pending.isStalled = false;
    this.#progressing.add(pending.process);
  }

  /** Ends all waiting. */
  end(): void {
    this.#ended = true;
    for (const { leave } of this.#pending.values()) leave();
  }

  /** Ends the waits for stalled starts, once no start makes progress any more. */
  #noProgress(process: SupervisedProcess): void {
    this.#progressing.delete(process);
    clearTimeout(this.#looking);
    this.#looking = setTimeout(() => {
      if (this.#progressing.size > 0) return;
      for (const { isStalled, leave } of this.#pending.values()) if (isStalled) leave();
    }, FOLLOWED_MS).unref();
  }

  /**
   * Resolves when the process is ready, has ended, or has not become ready in time; its dependents start in any case.
   */
  async #untilReady(process: SupervisedProcess): Promise<void> {
    const deadline = performance.now() + this.#options.readinessTimeoutMs();
    this.#progressing.add(process);
    while (!this.#ended && process.snapshot().status === 'running' && performance.now() < deadline) {
      if (await this.#options.isReady(process)) break;
      await delay(this.#options.paced(READY_POLL_MS), undefined, { ref: false });
    }
    this.#noProgress(process);
  }
}
