// Watches conditions: each gives one alert and one recovery, even when the host restarts in between.
import type { ContributionList, Disposer, Host } from '#core';
import { isObject } from '#kit/plain-object';
import type { Condition, ConditionEvent, ConditionSource, NotificationEvent, Thresholds } from './contract.ts';
import { isPossible } from './event-types.ts';
import type { ToldCondition } from './queue-statements.ts';
import type { QueueStore } from './queue-store.ts';
import type { NotificationSettings } from './settings.ts';

const MS_PER_S = 1_000;
/** The order of the recovery in lists of types: after those of all conditions. */
const RECOVERY_ORDER = 1_200;
/** Separates the key of a source from the key of its condition. */
const SEPARATOR = ':';

/** A condition as its source has observed it; `key` begins with the key of the source. */
interface Observation {
  readonly key: string;
  readonly source: ConditionSource;
  readonly condition: Condition;
}

interface Episode {
  readonly type: string;
  /** When the condition became true, by the monotonic clock. */
  readonly sinceMs: number;
  /** Whether an alert was sent; `isCriticalTold` says whether one was sent with the condition being critical. */
  isTold: boolean;
  isCriticalTold: boolean;
}

export interface MonitorOptions {
  readonly store: QueueStore;
  readonly sources: ContributionList<ConditionSource>;
  settings(): NotificationSettings;
  isStarted(): boolean;
}

export class Monitor {
  readonly #host: Host;
  readonly #with: MonitorOptions;
  readonly #episodes = new Map<string, Episode>();
  #timer: { readonly intervalSec: number; readonly end: Disposer } | undefined;
  /** Sources that have answered. The first answer of a source sends no alert, so that its conditions may still pass. */
  readonly #begun = new Set<string>();
  /** How often everything was forgotten. What a pass has observed before that is not noted after it. */
  #generation = 0;
  #isRestored = false;
  #isKept = true;

  constructor(host: Host, options: MonitorOptions) {
    this.#host = host;
    this.#with = options;
  }

  /** Starts, stops or changes the watch as the settings say. */
  adjust(): void {
    const { enabled, monitor_interval_sec: intervalSec } = this.#with.settings();
    if (enabled && this.#timer?.intervalSec === intervalSec) return;
    void this.#timer?.end();
    if (!enabled) {
      // All conditions are forgotten, also on the disk and when the host starts like this: a watch that is switched on
      // again begins anew.
      this.#forget();
      void this.#keep();
      this.#timer = undefined;
      return;
    }
    const end = this.#host.every(this.#host.paced(intervalSec * MS_PER_S), () => this.#pass());
    this.#timer = { intervalSec, end };
  }

  #forget(): void {
    this.#generation += 1;
    this.#episodes.clear();
    this.#begun.clear();
    this.#isRestored = true;
    this.#isKept = false;
  }

  async #pass(): Promise<void> {
    if (!this.#with.isStarted()) return;
    const { store } = this.#with;
    // Earlier alerts are read first; the watch waits for the store until it is open or has failed.
    if (!store.isUsable && !store.isDegraded) return;
    const generation = this.#generation;
    await this.#restore();
    if (generation !== this.#generation) return;
    await Promise.all([...this.#with.sources].map(({ key, value }) => this.#watch(key, value)));
    await this.#keep();
  }

  async #watch(sourceKey: string, source: ConditionSource): Promise<void> {
    const { thresholds } = this.#with.settings();
    const generation = this.#generation;
    const conditions = await observe(source, thresholds);
    if (conditions === null || generation !== this.#generation) return;
    const holdMs = this.#begun.has(sourceKey) ? thresholds.duration_sec * MS_PER_S : Number.POSITIVE_INFINITY;
    this.#begun.add(sourceKey);
    const seen = new Set<string>();
    for (const condition of conditions) {
      const key = `${sourceKey}${SEPARATOR}${condition.key}`;
      seen.add(key);
      this.#look({ key, source, condition }, holdMs);
    }
    for (const [key, { isTold }] of this.#episodes) {
      if (seen.has(key) || !key.startsWith(sourceKey + SEPARATOR)) continue;
      this.#episodes.delete(key);
      if (isTold) this.#isKept = false;
    }
  }

  #look(observation: Observation, holdMs: number): void {
    const { key, condition } = observation;
    const { type, isTrue, isCritical } = condition;
    const episode = this.#episodes.get(key);
    if (isTrue === null) return;
    if (!isTrue) {
      this.#episodes.delete(key);
      if (episode?.isTold) this.#tellEnd(observation);
      return;
    }
    const now = performance.now();
    if (episode === undefined) {
      const begun = { type, sinceMs: now, isTold: false, isCriticalTold: false };
      this.#episodes.set(key, begun);
      if (holdMs === 0) this.#tell(begun, observation);
    } else if (!episode.isTold) {
      if (now - episode.sinceMs >= holdMs) this.#tell(episode, observation);
    } else if (isCritical && !episode.isCriticalTold) this.#tell(episode, observation);
  }

  #tell(episode: Episode, { key, source, condition }: Observation): void {
    const { type, isCritical } = condition;
    const isWorse = episode.isTold;
    episode.isTold = true;
    episode.isCriticalTold = isCritical;
    this.#isKept = false;
    const event = {
      ...eventOf(key, condition),
      ignoresCooldown: isWorse,
      ...(isCritical ? { severity: 'critical' as const } : {}),
    };
    try {
      source.tell(type, event);
    } catch {
      // The host has already counted and logged the failure.
    }
  }

  #tellEnd({ key, condition }: Observation): void {
    this.#isKept = false;
    const { type: recoveredType, overTitle: title } = condition;
    this.#host.emit('recovery', { ...eventOf(key, condition), title, recoveredType });
  }

  /** Reads the alerts that were sent before the start. */
  async #restore(): Promise<void> {
    if (this.#isRestored || !this.#with.store.isUsable) return;
    const told = await this.#with.store.write('conditions', undefined).catch(() => undefined);
    // Meanwhile everything may have been forgotten, what was told included.
    if (told === undefined || this.#isRestored) return;
    this.#isRestored = true;
    for (const { key, value } of told) {
      const kept = keptOf(value);
      if (kept === undefined || this.#episodes.get(key)?.isTold) continue;
      const type = String(kept.type);
      this.#episodes.set(key, {
        type,
        sinceMs: performance.now(),
        isTold: true,
        isCriticalTold: kept.critical === true,
      });
    }
  }

  /** Writes the alerts that were sent and are not over; a later pass tries again while the database cannot be used. */
  async #keep(): Promise<void> {
    if (this.#isKept || !this.#isRestored || !this.#with.store.isUsable) return;
    const told = [...this.#episodes].flatMap(([key, { type, isTold, isCriticalTold: critical }]): ToldCondition[] =>
      isTold ? [{ key, value: JSON.stringify({ type, critical }) }] : [],
    );
    this.#isKept = true;
    await this.#with.store.write('keepConditions', { told, now: Date.now() / MS_PER_S }).catch(() => {
      this.#isKept = false;
    });
  }
}

/** Contributes the event that announces the end of a condition. */
export function contributeRecovery(host: Host, sources: ContributionList<ConditionSource>): void {
  host.event('recovery', { description: 'A condition that people were told of is over' });
  host.contribute('notifications.event', 'recovery', {
    severity: 'success',
    order: RECOVERY_ORDER,
    isPossible: () => [...sources].some(({ value }) => isPossible(value)),
    describe: event => event,
  } as NotificationEvent<ConditionEvent> as NotificationEvent);
}

/** null when the source fails; the host has already counted and logged the failure. */
async function observe(source: ConditionSource, thresholds: Thresholds): Promise<readonly Condition[] | null> {
  try {
    return await source.observe(thresholds);
  } catch {
    return null;
  }
}

function eventOf(conditionKey: string, { title, body, value, serviceName }: Condition): ConditionEvent {
  return { conditionKey, title, body, metadata: { value }, ...(serviceName === undefined ? {} : { serviceName }) };
}

/** The stored value of a condition; undefined when an earlier program stored something else. */
function keptOf(value: string | null): Record<string, unknown> | undefined {
  try {
    const kept: unknown = JSON.parse(value ?? '');
    return isObject(kept) ? kept : undefined;
  } catch {
    return undefined;
  }
}
