// Watches the thresholds: one alert and one recovery for each condition, also over a restart.
import type { Disposer, Host } from '#core';
import { isObject } from '#kit/plain-object';
import type {} from '../metrics/contract.ts';
import { type ConditionType, type Observation, observe, tellsDatabases } from './conditions.ts';
import type { ToldCondition } from './queue-statements.ts';
import type { QueueStore } from './queue-store.ts';
import type { NotificationSettings } from './settings.ts';

const MS_PER_S = 1_000;

interface Episode {
  readonly type: ConditionType;
  /** Monotonic. */
  readonly sinceMs: number;
  /** Whether people were told of it, and of its being critical. */
  isTold: boolean;
  isCriticalTold: boolean;
}

export interface MonitorOptions {
  readonly store: QueueStore;
  settings(): NotificationSettings;
  isStarted(): boolean;
}

export class Monitor {
  readonly #host: Host;
  readonly #with: MonitorOptions;
  readonly #episodes = new Map<string, Episode>();
  #timer: { readonly intervalSec: number; readonly end: Disposer } | undefined;
  /** The first pass sends nothing: what is true then has its time to pass. */
  #isBaseline = true;
  #isRestored = false;
  #isKept = true;
  #isToldOfLack = false;

  constructor(host: Host, options: MonitorOptions) {
    this.#host = host;
    this.#with = options;
  }

  /** Follows the settings. */
  adjust(): void {
    const { enabled, monitor_interval_sec: intervalSec } = this.#with.settings();
    if (enabled && this.#timer?.intervalSec === intervalSec) return;
    void this.#timer?.end();
    if (!enabled) {
      // Whoever switches it on again begins anew.
      if (this.#timer !== undefined) this.#forget();
      this.#timer = undefined;
      return;
    }
    const end = this.#host.every(this.#host.paced(intervalSec * MS_PER_S), () => this.#pass());
    this.#timer = { intervalSec, end };
  }

  #forget(): void {
    this.#episodes.clear();
    this.#isBaseline = true;
    this.#isRestored = true;
    this.#isKept = false;
  }

  async #pass(): Promise<void> {
    if (!this.#with.isStarted()) return;
    const sampler = this.#host.find('metrics.sampler');
    if (sampler === undefined) {
      if (!this.#isToldOfLack) this.#host.log.info('thresholds are not watched: the plugin metrics is not loaded');
      this.#isToldOfLack = true;
      return;
    }
    const { store } = this.#with;
    // What people were told of before is read first, unless it cannot be.
    if (!store.isUsable && !store.isDegraded) return;
    await this.#restore();
    const sample = await sampler.sample();
    const { thresholds } = this.#with.settings();
    const observations = observe(sample, thresholds);
    const holdMs = thresholds.duration_sec * MS_PER_S;
    for (const observation of observations) this.#look(observation, holdMs);
    const seen = new Set(observations.map(({ key }) => key));
    const isUnknown = (key: string) => key.startsWith('database:') && !tellsDatabases(sample);
    for (const [key, { isTold }] of this.#episodes) {
      if (seen.has(key) || isUnknown(key)) continue;
      this.#episodes.delete(key);
      if (isTold) this.#isKept = false;
    }
    this.#isBaseline = false;
    await this.#keep();
  }

  #look(observation: Observation, holdMs: number): void {
    const { key, type, isTrue, isCritical } = observation;
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
      if (!this.#isBaseline && holdMs === 0) this.#tell(begun, observation);
    } else if (!episode.isTold) {
      if (now - episode.sinceMs >= holdMs) this.#tell(episode, observation);
    } else if (isCritical && !episode.isCriticalTold) this.#tell(episode, observation);
  }

  #tell(episode: Episode, { key, type, title, body, value, serviceName, isCritical }: Observation): void {
    const isWorse = episode.isTold;
    episode.isTold = true;
    episode.isCriticalTold = isCritical;
    this.#isKept = false;
    const service = serviceName === undefined ? {} : { serviceName };
    this.#host.emit(type, { conditionKey: key, title, body, value, isCritical, isWorse, ...service });
  }

  #tellEnd({ key, type, overTitle, body, value, serviceName }: Observation): void {
    this.#isKept = false;
    const service = serviceName === undefined ? {} : { serviceName };
    const event = { conditionKey: key, title: overTitle, body, value, isCritical: false, isWorse: false, ...service };
    this.#host.emit('recovery', { ...event, recoveredType: type });
  }

  /** Reads what people were told of before the start. */
  async #restore(): Promise<void> {
    if (this.#isRestored || !this.#with.store.isUsable) return;
    const told = await this.#with.store.write('conditions', undefined).catch(() => undefined);
    if (told === undefined) return;
    this.#isRestored = true;
    for (const { key, value } of told) {
      const kept = keptOf(value);
      if (kept === undefined || this.#episodes.get(key)?.isTold) continue;
      const type = String(kept.type) as ConditionType;
      this.#episodes.set(key, {
        type,
        sinceMs: performance.now(),
        isTold: true,
        isCriticalTold: kept.critical === true,
      });
    }
  }

  /** Writes what people were told of; while the database cannot be used, at a later pass. */
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

/** What was kept of a condition; undefined where an earlier program kept something else. */
function keptOf(value: string | null): Record<string, unknown> | undefined {
  try {
    const kept: unknown = JSON.parse(value ?? '');
    return isObject(kept) ? kept : undefined;
  } catch {
    return undefined;
  }
}
