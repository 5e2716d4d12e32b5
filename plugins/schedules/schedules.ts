// Starts services at the times of their schedules. What is passed over, because the service still runs, was stopped by
// a user or Stackwarden did not run, is told.
import { setTimeout as delay } from 'node:timers/promises';
import type { Host, NamedBlock, Schedule } from '#core';
import { ClockSteps, LARGE_STEP_MS } from '#kit/clock-steps';
import { isTimeZone } from '#kit/time-zone';
import type { ProcessSnapshot, ProcessStatus } from '../process/contract.ts';
import { missedTimes } from './missed-times.ts';
import type { ServedTimes } from './served-times.ts';
import { type ScheduleSettings, scheduleOf } from './settings.ts';

/** How long a time waits for the end of what is being stopped, or to be known to run. */
const SETTLE_LIMIT_MS = 60_000;

interface Running {
  /** What it was made from; a schedule that has changed is made anew. */
  readonly made: string;
  readonly schedule: Schedule;
  /** How the clock was set since its last time. */
  readonly steps: ClockSteps;
}

export class Schedules {
  readonly #host: Host;
  readonly #served: ServedTimes;
  readonly #running = new Map<string, Running>();
  readonly #lastRuns = new Map<string, Date>();
  /** Names of processes whose times have come while somebody else worked on them. */
  readonly #held = new Set<string>();
  /** By names of processes whose times have come while they were being stopped or taken over: what ends the wait. */
  readonly #settling = new Map<string, () => void>();
  #revision = 0;

  constructor(host: Host, served: ServedTimes) {
    this.#host = host;
    this.#served = served;
  }

  /** A number that changes with every answer of `describe`. */
  get revision(): number {
    return this.#revision;
  }

  /** Takes over the schedules of all enabled services. */
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
    // A changed schedule has missed nothing.
    if (before === undefined && served !== undefined) this.#makeUpFor(processName, settings, new Date(served));
    this.#served.set(processName, Date.now());
  }

  #makeUpFor(processName: string, settings: ScheduleSettings, served: Date): void {
    const missed = missedTimes(settings.cron, this.#zoneOf(settings), { after: served, before: new Date() });
    if (missed === null) return;
    const what = `${processName}: its schedule has missed ${missed.words} while Stackwarden did not run`;
    this.#tellMissed(`${what}, the last ${isoTime(missed.last)}`, settings);
    if (settings.makesUp) this.#start(processName);
  }

  /** Whether this time has come only because the clock was set ahead over it by hours, and is not made up for. */
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
    // As for the times to come, a zone that nobody knows is that of the machine.
    return timeZone ?? (typeof configured === 'string' && isTimeZone(configured) ? configured : undefined);
  }

  /** Takes note of the status of a process. */
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

  /** However many times pass during a hold, one is kept. */
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

  /** However many times pass meanwhile, one is kept. */
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

  /** Not waited for, because a start may wait for what the service needs. */
  #start(processName: string, isRestart = false): void {
    const supervisor = this.#host.find('process.supervisor');
    if (supervisor === undefined) return;
    this.#lastRuns.set(processName, new Date());
    this.#revision += 1;
    const { name } = this.#host;
    const started = isRestart
      ? supervisor.restart(processName, 'schedule', name)
      : supervisor.start(processName, 'schedule', name);
    // The supervisor has told of it.
    started.catch(() => undefined);
  }
}

/** Why a time is passed over, or null. */
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
