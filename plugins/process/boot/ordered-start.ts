// Starts many processes in dependency order: independent ones side by side, and none is held up for ever by another.
import { setTimeout as delay } from 'node:timers/promises';
import type { SupervisedProcess } from '../supervise/supervised-process.ts';
import type { BootOrder } from './boot-order.ts';

/** From then on a start that waits holds no other up. */
const STALLED_MS = 5_000;
const STALL_POLL_MS = 100;
const READY_POLL_MS = 250;

export interface OrderedStartOptions {
  /** Never rejects. */
  start(process: SupervisedProcess): Promise<void>;
  isReady(process: SupervisedProcess): Promise<boolean>;
  readinessTimeoutMs(): number;
  /** Everything that the process needs is there, or will not come. */
  onBegin(processName: string, needs: readonly string[]): void;
  /** It is up, or its failure is final. */
  onEnd(processName: string): void;
  /** As `Host.paced`. */
  paced(ms: number): number;
  /** Nothing is waited for any more. */
  ended(): boolean;
}

export class OrderedStart {
  readonly #options: OrderedStartOptions;
  /** Those whose start gets on: neither done nor waiting for long. */
  readonly #progressing = new Set<SupervisedProcess>();

  constructor(options: OrderedStartOptions) {
    this.#options = options;
  }

  /**
   * Each starts as soon as what it needs is ready. One that fails does not hold its dependents up. Nor does one that waits
   * for long, once nothing else gets on: what it waits for may come after it. Such a start goes on by itself.
   */
  async run(processes: readonly SupervisedProcess[], { needs }: BootOrder): Promise<void> {
    const started = new Map<string, Promise<void>>();
    const start = (process: SupervisedProcess): Promise<void> => {
      const { processName } = process.block;
      const known = started.get(processName);
      if (known !== undefined) return known;
      const before = processes.filter(({ block }) => needs.get(processName)?.has(block.processName));
      const isNeeded = [...needs.values()].some(names => names.has(processName));
      const run = Promise.all(before.map(start)).then(async () => {
        const names = before.map(({ block }) => block.processName);
        this.#options.onBegin(processName, names);
        await this.one(process);
        if (isNeeded) await this.#untilReady(process);
        this.#options.onEnd(processName);
      });
      started.set(processName, run);
      return run;
    };
    await Promise.all(processes.map(start));
  }

  /** Resolves when the start is done, or waits for long while nothing else gets on. */
  async one(process: SupervisedProcess): Promise<void> {
    let settled = false;
    this.#progressing.add(process);
    const settling = this.#options.start(process).then(() => {
      settled = true;
    });
    let waitingSinceMs: number | undefined;
    while (!settled && !this.#options.ended()) {
      const now = performance.now();
      waitingSinceMs = isWaiting(process) ? (waitingSinceMs ?? now) : undefined;
      const isStalled = waitingSinceMs !== undefined && now - waitingSinceMs >= this.#options.paced(STALLED_MS);
      if (isStalled) this.#progressing.delete(process);
      else this.#progressing.add(process);
      if (isStalled && this.#progressing.size === 0) return;
      await Promise.race([settling, delay(STALL_POLL_MS, undefined, { ref: false })]);
    }
    this.#progressing.delete(process);
  }

  /** Ready, or no longer running, or not ready in time: then its dependents start all the same. */
  async #untilReady(process: SupervisedProcess): Promise<void> {
    const deadline = performance.now() + this.#options.readinessTimeoutMs();
    this.#progressing.add(process);
    while (!this.#options.ended() && process.snapshot().status === 'running' && performance.now() < deadline) {
      if (await this.#options.isReady(process)) break;
      await delay(this.#options.paced(READY_POLL_MS), undefined, { ref: false });
    }
    this.#progressing.delete(process);
  }
}

/** For a dependency, or for whoever holds it. */
function isWaiting(process: SupervisedProcess): boolean {
  const { waitingFor, held } = process.snapshot();
  return waitingFor.length > 0 || held !== null;
}
