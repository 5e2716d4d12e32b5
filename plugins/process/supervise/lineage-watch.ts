// Looks now and then at the descendants of runs without a cgroup, because a process whose parent has ended can no
// longer be found through that parent.
import { lacksDescriptors } from '#kit/descriptors';
import { turnWithTime } from '#kit/turns';
import { NO_CGROUP } from './cgroup.ts';
import { type StopTarget, survivorsAside } from './stop.ts';

const TABLE_MAX_AGE_MS = 1_000;

export class LineageWatch {
  readonly #targets = new Set<StopTarget>();
  readonly #pollMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(pollMs: number) {
    this.#pollMs = pollMs;
  }

  add(target: StopTarget): void {
    if (target.cgroup !== NO_CGROUP) return;
    this.#targets.add(target);
    this.#timer ??= setInterval(() => void this.#lookAtAll(), this.#pollMs).unref();
  }

  delete(target: StopTarget): void {
    this.#targets.delete(target);
    if (this.#targets.size === 0) this.close();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#targets.clear();
  }

  /** Looks at one run at once. */
  async look(target: StopTarget): Promise<void> {
    if (!this.#targets.has(target)) return;
    try {
      await survivorsAside(target, TABLE_MAX_AGE_MS);
    } catch (error) {
      // No descriptor is free for the look; the next one finds the descendants.
      if (!lacksDescriptors(error)) throw error;
    }
  }

  async #lookAtAll(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      for (const target of this.#targets) {
        await turnWithTime();
        await this.look(target);
      }
    } finally {
      this.#isLooking = false;
    }
  }
}
