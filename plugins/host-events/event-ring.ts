// Keeps the newest events under ids that only grow, even over restarts of the host.
import type { AnyEvent } from '#core';

interface KeptEvent {
  readonly id: number;
  readonly type: string;
  readonly plugin: string;
  readonly at: number;
  readonly data: Record<string, unknown>;
}

export class EventRing {
  readonly #limit: number;
  #kept: KeptEvent[] = [];
  #last: number;

  /**
   * Ids begin at `nowMs`, which is above those of an earlier host, because a host has fewer than 1,000 events a second.
   */
  constructor(limit: number, nowMs: number) {
    this.#limit = limit;
    this.#last = nowMs;
  }

  add({ type, plugin, at, data }: AnyEvent): void {
    this.#last += 1;
    this.#kept.push({ id: this.#last, type, plugin, at, data: data as Record<string, unknown> });
    if (this.#kept.length > 2 * this.#limit) this.#kept = this.#kept.slice(-this.#limit);
  }

  /** The kept events with an id above `id`, the oldest first. */
  after(id: number): { readonly events: KeptEvent[]; readonly last: number } {
    return { events: this.#kept.slice(-this.#limit).filter(event => event.id > id), last: this.#last };
  }
}
