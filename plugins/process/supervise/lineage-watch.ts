// Looks at the descendants of runs without a cgroup now and then, because one whose parent has ended can no longer be
// found by it.
import { lacksDescriptors } from '#kit/descriptors';
import { NO_CGROUP } from './cgroup.ts';
import { type StopTarget, survivors } from './stop.ts';

const TABLE_MAX_AGE_MS = 1_000;

export class LineageWatch {
  readonly #targets = new Set<StopTarget>();
  readonly #pollMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(pollMs: number) {
    this.#pollMs = pollMs;
  }

  add(target: StopTarget): void {
    if (target.cgroup !== NO_CGROUP) return;
    this.#targets.add(target);
    this.#timer ??= setInterval(() => this.#lookAtAll(), this.#pollMs).unref();
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
  look(target: StopTarget): void {
    if (!this.#targets.has(target)) return;
    try {
      survivors(target, TABLE_MAX_AGE_MS);
    } catch (error) {
      // What cannot be told now is asked again at the next look.
      if (!lacksDescriptors(error)) throw error;
    }
  }

  #lookAtAll(): void {
    for (const target of this.#targets) this.look(target);
  }
}
