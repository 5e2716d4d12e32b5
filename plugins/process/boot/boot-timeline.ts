// Records which service waited for which during a boot and for how long; the critical chain explains the boot's
// duration.
import type { ChainLink } from '../contract.ts';

interface Start {
  readonly waitedFor: string | null;
  readonly beganMs: number;
  endedMs: number | null;
}

export class BootTimeline {
  readonly #originMs = performance.now();
  readonly #starts = new Map<string, Start>();

  begin(processName: string, needs: readonly string[]): void {
    const known = needs.flatMap(name => {
      const endedMs = this.#starts.get(name)?.endedMs ?? null;
      return endedMs === null ? [] : [{ name, endedMs }];
    });
    const last = known.sort((a, b) => b.endedMs - a.endedMs)[0];
    this.#starts.set(processName, { waitedFor: last?.name ?? null, beganMs: performance.now(), endedMs: null });
  }

  end(processName: string): void {
    const start = this.#starts.get(processName);
    if (start !== undefined) start.endedMs ??= performance.now();
  }

  /** The chain from its first link to the service that was up last; empty when nothing was started. */
  criticalChain(): ChainLink[] {
    const ended = [...this.#starts].flatMap(([name, { endedMs }]) => (endedMs === null ? [] : [{ name, endedMs }]));
    const chain: ChainLink[] = [];
    let name: string | null = ended.sort((a, b) => b.endedMs - a.endedMs)[0]?.name ?? null;
    while (name !== null) {
      const start: Start | undefined = this.#starts.get(name);
      if (start === undefined) break;
      const { waitedFor, beganMs, endedMs } = start;
      const startMs = (endedMs ?? performance.now()) - beganMs;
      chain.unshift({ processName: name, waitedFor, waitedMs: beganMs - this.#originMs, startMs });
      name = waitedFor;
    }
    return chain;
  }
}
