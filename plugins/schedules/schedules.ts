// Starts services at the times of their schedules. A time that is skipped is logged: because the service still runs,
// was stopped by a user, or Stackwarden did not run.
import { setTimeout as delay } from 'node:timers/promises';
import type { Host, NamedBlock, Schedule } from '#core';
import { ClockSteps, LARGE_STEP_MS } from '#kit/clock-steps';
import { isTimeZone } from '#kit/time-zone';
import type { ProcessSnapshot, ProcessStatus } from '../process/contract.ts';
import { missedTimes } from './missed-times.ts';
import type { ServedTimes } from './served-times.ts';
import { type ScheduleSettings, scheduleOf } from './settings.ts';

/** How long a due start waits for a process that is being stopped or taken over. */
const SETTLE_LIMIT_MS = 60_000;

interface Running {
  /** The settings that it was made from, as JSON, to notice changes. */
  readonly made: string;
  readonly schedule: Schedule;
  /** How the clock was set since the last time of the schedule. */
  readonly steps: ClockSteps;
}

export class Schedules {
  readonly #host: Host;
  readonly #served: ServedTimes;
  readonly #running = new Map<string, Running>();
  readonly #lastRuns = new Map<string, Date>();
  /** Names of processes with a due start that waits for the end of a hold. */
  readonly #held = new Set<string>();
  /** By process name, what ends the wait of a due start while the process is being stopped or taken over. */
  readonly #settling = new Map<string, () => void>();
  #revision = 0;

  constructor(host: Host, served: ServedTimes) {
    this.#host = host;
    this.#served = served;
  }

  /** A number that changes whenever an answer of `describe` may change. */
  get revision(): number {
    return this.#revision;
  }

  /** Adopts the schedules of all enabled services from the configuration. */
  follow(): void {
    const store = this.#host.use('config.store');
    const wanted = new Map<string, ScheduleSettings>();
    for (const { processName, block } of store.blocks()) {
      const settings = block.enabled === true ? scheduleOf(block) : undefined;
      if (settings !== undefined) wanted.set(processName, settings);
    }
    for (const [name, { schedule }] of this.#running) {
      if (wanted.has(name)) continue;
      schedule.stop();
      this.#running.delete(name);
    }
    for (const [name, settings] of wanted) this.#schedule(name, settings, String(store.get('tz')));
    this.#served.keep(new Set(wanted.keys()));
    this.#revision += 1;
  }

  describe({ processName }: NamedBlock): { next_run?: string | null; last_run?: string | null } {
    const running = this.#running.get(processName);
    if (running === undefined) return {};
    return { next_run: isoTime(running.schedule.next()), last_run: isoTime(this.#lastRuns.get(processName) ?? null) };
  }

  #schedule(processName: string, settings: ScheduleSettings, configuredZone: string): void {
    const made = JSON.stringify([settings, configuredZone]);
    const before = this.#running.get(processName);
    if (before?.made === made) return;
    before?.schedule.stop();
    const options = settings.timeZone === undefined ? {} : { timeZone: settings.timeZone };
    const schedule = this.#host.cron(settings.cron, () => this.#come(processName, settings), options);
    this.#running.set(processName, { made, schedule, steps: new ClockSteps() });
    const served = this.#served.of(processName);
    // Only for a schedule that is new in this run: one that was just changed has missed nothing.
    if (before === undefined && served !== undefined) this.#makeUpFor(processName, settings, new Date(served));
    this.#served.set(processName, Date.now());
  }

  #makeUpFor(processName: string, settings: ScheduleSettings, served: Date): void {
    const missed = missedTimes(settings.cron, this.#zoneOf(settings), { after: served, before: new Date() });
    if (missed === null) return;
    const what = `${processName}: its schedule has missed ${missed.words} while Stackwarden did not run`;
    this.#tellMissed(`${what}, the last ${isoTime(missed.last)}`, settings);
    if (settings.makesUp) this.#due(processName);
  }

  /** Whether this time is due only because the clock was set ahead over it by hours, and is to be skipped. */
  #isSetPast(processName: string, settings: ScheduleSettings): boolean {
    const aheadMs = this.#running.get(processName)?.steps.aheadMs() ?? 0;
    if (aheadMs === 0) return false;
    const now = Date.now();
    const span = { after: new Date(now - aheadMs), before: new Date(now + 1) };
    const missed = missedTimes(settings.cron, this.#zoneOf(settings), span);
    if (missed === null || now - missed.last.getTime() <= LARGE_STEP_MS) return false;
    const what = `${processName}: the clock was set ahead over ${missed.words} of its schedule`;
    this.#tellMissed(`${what}, the last ${isoTime(missed.last)}`, settings);
    return !settings.makesUp;
  }

  #tellMissed(what: string, { makesUp }: ScheduleSettings): void {
    this.#host.log.warn(`${what}${makesUp ? '; it runs once now' : ''}`);
  }

  #zoneOf({ timeZone }: ScheduleSettings): string | undefined {
    const configured = this.#host.use('config.store').get('tz');
    // For an unknown zone the machine's is used, as for future times.
    return timeZone ?? (typeof configured === 'string' && isTimeZone(configured) ? configured : undefined);
  }

  /** To be called at each change of a process's status. */
  moved({ processName, status }: ProcessSnapshot): void {
    if (!isUnsettled(status)) this.#settling.get(processName)?.();
  }

  #come(processName: string, settings: ScheduleSettings): void {
    if (!this.#isSetPast(processName, settings)) {
      this.#due(processName);
      return;
    }
    this.#served.set(processName, Date.now());
    this.#revision += 1;
  }

  #due(processName: string, hasWaited = false): void {
    this.#served.set(processName, Date.now());
    this.#revision += 1;
    const settings = scheduleOf(this.#host.use('config.store').findBlock(processName)?.block ?? {});
    const process = this.#host.find('process.supervisor')?.get(processName);
    if (settings === undefined || process === undefined || this.#host.stopping !== null) return;
    if (process.held !== null) {
      void this.#dueAfterHold(processName, process.held.reason);
      return;
    }
    if (isUnsettled(process.status) && !process.stoppedByUser && !settings.restarts && !hasWaited) {
      void this.#dueWhenSettled(processName);
      return;
    }
    const isBusy = process.status !== 'stopped';
    const obstacle = obstacleTo(process, settings);
    if (obstacle !== null) {
      this.#host.log.warn(`${processName} is not started by its schedule this time: ${obstacle}`);
      return;
    }
    if (isBusy) this.#host.log.info(`${processName} still runs and is restarted by its schedule`);
    this.#start(processName, isBusy);
  }

  /** Starts the process after a hold, once, however many times of its schedule pass during the hold. */
  async #dueAfterHold(processName: string, reason: string): Promise<void> {
    if (this.#held.has(processName)) return;
    this.#held.add(processName);
    this.#host.log.info(`${processName} is held (${reason}); its schedule goes on when that is done`);
    const release = this.#host.find('process.supervisor')?.released(processName);
    const isReleased = await release?.then(
      () => true,
      () => false,
    );
    this.#held.delete(processName);
    if (isReleased === true && !this.#host.signal.aborted) this.#due(processName);
  }

  /** Starts the process once it is stopped or known to run; once, however many times pass meanwhile. */
  async #dueWhenSettled(processName: string): Promise<void> {
    if (this.#settling.has(processName)) return;
    const { signal } = this.#host;
    const settled = new Promise<void>(resolve => this.#settling.set(processName, resolve));
    const timer = new AbortController();
    const late = delay(SETTLE_LIMIT_MS, undefined, { signal: AbortSignal.any([signal, timer.signal]), ref: false });
    await Promise.race([settled, late]).catch(() => undefined);
    timer.abort();
    this.#settling.delete(processName);
    if (!signal.aborted) this.#due(processName, true);
  }

  /** Does not wait for the start, because that may wait for other services. */
  #start(processName: string, isRestart = false): void {
    const supervisor = this.#host.find('process.supervisor');
    if (supervisor === undefined) return;
    this.#lastRuns.set(processName, new Date());
    this.#revision += 1;
    const { name } = this.#host;
    const started = isRestart
      ? supervisor.restart(processName, 'schedule', name)
      : supervisor.start(processName, 'schedule', name);
    // The supervisor logs a failure.
    started.catch(() => undefined);
  }
}

/** Why a time is skipped; null when it is not. */
function obstacleTo({ stoppedByUser, status }: ProcessSnapshot, { restarts }: ScheduleSettings): string | null {
  if (stoppedByUser) return 'it was stopped by hand; start it by hand to go on';
  if (status === 'stopped' || restarts) return null;
  if (status === 'unknown') return 'it is still being taken over from an earlier run';
  return status === 'stopping' ? 'its last run still ends' : 'it still runs from an earlier start';
}

function isUnsettled(status: ProcessStatus): boolean {
  return status === 'stopping' || status === 'unknown';
}

function isoTime(time: Date | null): string | null {
  return time === null ? null : time.toISOString().replace(/\.\d+Z$/, 'Z');
}
