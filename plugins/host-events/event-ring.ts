// Keeps the newest events under ids that only grow, even over restarts of the host.
import type { AnyEvent } from '#core';

interface KeptEvent {
  readonly id: number;
  readonly type: string;
  readonly plugin: string;
  readonly at: number;
  readonly data: unknown;
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

  add({ type, plugin, at, data }: Omit<AnyEvent, 'data'> & { readonly data: unknown }): void {
    this.#last += 1;
    // JSON leaves out a member that is undefined, and clients expect every member.
    this.#kept.push({ id: this.#last, type, plugin, at, data: data ?? null });
    if (this.#kept.length > 2 * this.#limit) this.#kept = this.#kept.slice(-this.#limit);
  }

  /**
   * The kept events with an id above `id`, the oldest first. An id above the last one is of an earlier host whose clock
   * was ahead, so that all events came after it.
   */
  after(id: number): { readonly events: KeptEvent[]; readonly last: number } {
    const kept = this.#kept.slice(-this.#limit);
    return { events: id > this.#last ? kept : kept.filter(event => event.id > id), last: this.#last };
  }
}
