// Accepts events without holding up their emitters: makes texts of a few at a time and hands them to the queue. While
// the queue cannot be written, the newest texts wait in memory.
import { setImmediate as breathe } from 'node:timers/promises';
import type { AnyEvent, ContributionList, Host } from '#core';
import type { NotificationEvent } from './contract.ts';
import type { QueuedEvent } from './queue-statements.ts';
import type { QueueStore } from './queue-store.ts';
import { type ManualMessage, manualEvent, queuedEvent } from './queued-event.ts';
import type { DestinationSettings, NotificationSettings } from './settings.ts';

/** How many events may wait while the database can be used; `MAX_KEPT` counts while it cannot. */
const MAX_WAITING = 20_000;
const MAX_KEPT = 200;
const BATCH = 50;
/** How long one piece of work may hold the event loop. */
const SLICE_MS = 1;
const MS_PER_S = 1_000;

export interface IntakeOptions {
  readonly store: QueueStore;
  readonly events: ContributionList<NotificationEvent>;
  settings(): NotificationSettings;
  isStarted(): boolean;
  /** Called when something was queued. */
  queued(): void;
}

export class Intake {
  readonly #host: Host;
  readonly #with: IntakeOptions;
  /** Events that are not described yet. */
  readonly #told: { event: AnyEvent; kind: NotificationEvent }[] = [];
  #waiting: QueuedEvent[] = [];
  #dropped = 0;
  #working: Promise<void> | undefined;

  constructor(host: Host, options: IntakeOptions) {
    this.#host = host;
    this.#with = options;
  }

  /** Takes an event of any type; ignores those of which no message is made. */
  take(event: AnyEvent): void {
    const kind = this.#with.events.get(event.type)?.value;
    if (kind === undefined || !this.#with.settings().enabled) return;
    if (kind.duringStartup !== true && !this.#with.isStarted()) return;
    this.#told.push({ event, kind });
    if (this.#told.length > MAX_WAITING) {
      this.#told.shift();
      this.#dropped += 1;
    }
    this.flush();
  }

  /** Describes the events that wait and writes them to the queue, as far as the database can be used. */
  flush(): void {
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
      // Since the last check another event may have come, or the database may have become usable.
      if (this.#hasWork()) this.flush();
    });
  }

  /** Resolves when everything that can be written is written, and logs how many messages are lost. */
  async end(): Promise<void> {
    await this.#working;
    const lost = this.#waiting.length + this.#dropped;
    if (lost > 0) this.#host.log.warn(`${lost} notifications are lost: their storage could not be used until the end`);
  }

  /** Queues a message of a user at once. Resolves with the ids of the deliveries. */
  async send(message: ManualMessage, destinations: readonly DestinationSettings[]): Promise<string[]> {
    const event = manualEvent(message, destinations);
    await this.#with.store.ask('enqueue', { events: [event], now: event.createdAt });
    this.#with.queued();
    return event.targets.map(({ deliveryId }) => deliveryId);
  }

  async #work(): Promise<void> {
    const { store, queued } = this.#with;
    while (this.#hasWork()) {
      // No more than one batch is described ahead, because texts are larger than the events.
      while (this.#told.length > 0 && (this.#waiting.length < BATCH || !store.isUsable)) {
        await breathe();
        this.#describeSome();
      }
      if (this.#waiting.length === 0 || !store.isUsable) continue;
      const events = this.#waiting.slice(0, BATCH);
      try {
        await store.write('enqueue', { events, now: Date.now() / MS_PER_S });
      } catch (error) {
        // An unusable store has logged why, and calls `flush` when it can be used again.
        if (!store.isUsable) continue;
        this.#host.log.error('notifications cannot be queued', error);
      }
      const written = new Set(events);
      this.#waiting = this.#waiting.filter(event => !written.has(event));
      queued();
    }
    this.#limit();
    if (this.#waiting.length === 0 && this.#dropped > 0) {
      this.#host.log.warn(`${this.#dropped} notifications were lost, because more happened than could be kept`);
      this.#dropped = 0;
    }
  }

  #hasWork(): boolean {
    return this.#told.length > 0 || (this.#waiting.length > 0 && this.#with.store.isUsable);
  }

  #describeSome(): void {
    const end = performance.now() + SLICE_MS;
    let done = 0;
    for (const { event, kind } of this.#told) {
      if (performance.now() > end) break;
      done += 1;
      const queued = queuedEvent(event, kind, this.#with.settings().destinations);
      if (queued.targets.length > 0) this.#waiting.push(queued);
    }
    this.#told.splice(0, done);
    this.#limit();
  }

  /** Drops the oldest messages when more wait than may. */
  #limit(): void {
    const excess = this.#waiting.length - (this.#with.store.isDegraded ? MAX_KEPT : MAX_WAITING);
    if (excess <= 0) return;
    this.#waiting = this.#waiting.slice(excess);
    this.#dropped += excess;
  }
}
