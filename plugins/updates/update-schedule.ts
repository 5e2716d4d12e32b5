// The schedule of updates: checks at intervals which processes are due, and updates them one after the other, those of
// the product itself last.
import type { Host, NamedBlock } from '#core';
import { ClockSteps, LARGE_STEP_MS } from '#kit/clock-steps';
import { deepEqual } from '#kit/deep-equal';
import { errorText } from '#kit/error-text';
import { isTimeZone } from '#kit/time-zone';
import { WorkQueue } from '#kit/work-queue';
import { autoUpdate } from './auto-update.ts';
import { dayOf, dueAfter, nextStartDay, type Rhythm } from './rhythm.ts';
import { isProject, type ScheduleRecord, type UpdateRecords } from './update-records.ts';

const LOOK_MS = 15_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MS_PER_S = 1_000;
/** After how long an update that was put off is tried again. */
const DEFERRED_MS = 900_000;
const NEVER = new Date(8.64e15);

interface Plan {
  readonly rhythm: Rhythm;
  /** The UTC midnight of the date from which the intervals are counted. */
  readonly firstDay: Date;
  readonly next: Date;
}

export interface ScheduleParts {
  readonly records: UpdateRecords;
  /**
   * Whether the block lets updates be checked: its selector names no fixed release. undefined while no source offers
   * the program, which may be so for a moment only, while plugins are reloaded.
   */
  isPossible(block: NamedBlock): boolean | undefined;
  /** Checks for an update and, unless the block says otherwise, installs it. Resolves with whether it was put off. */
  update(block: NamedBlock): Promise<boolean>;
}

export class UpdateSchedule {
  readonly #host: Host;
  readonly #parts: ScheduleParts;
  readonly #plans = new Map<string, Plan>();
  readonly #queue = new WorkQueue({ concurrency: 1 });
  /** Processes that wait in the queue or are being updated. */
  readonly #due = new Set<string>();
  /** When this host started; an update that was due before was missed. */
  readonly #startedAt = new Date();
  readonly #steps = new ClockSteps();
  #localZone: string | undefined;

  constructor(host: Host, parts: ScheduleParts) {
    this.#host = host;
    this.#parts = parts;
  }

  start(): void {
    this.#host.every(this.#host.paced(LOOK_MS), () => this.#look());
  }

  end(): void {
    this.#queue.clear();
  }

  /** When updates of the process are checked for next; null when they are not. */
  nextAt(block: NamedBlock): Date | null {
    return this.#planOf(block)?.next ?? null;
  }

  /** Counts the intervals of the process from today on. */
  reschedule(block: NamedBlock): void {
    this.#forget(block.processName);
    this.#planOf(block);
  }

  /** Forgets processes that the configuration does not have any more: one that comes back is planned anew. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const processName of this.#plans.keys()) if (!names.has(processName)) this.#plans.delete(processName);
  }

  #look(): void {
    if (this.#host.find('process.supervisor')?.startup().terminal === false) return;
    const now = new Date();
    if (this.#steps.aheadMs() > 0) this.#passOver(now);
    const due = this.#blocks().filter(block => !this.#due.has(block.processName) && this.#isDue(block, now));
    due.sort((a, b) => Number(isProject(a.processName)) - Number(isProject(b.processName)));
    for (const { processName } of due) void this.#queue.add(() => this.#run(processName));
    for (const { processName } of due) this.#due.add(processName);
  }

  /**
   * Called when the clock was set ahead. Moves updates that became overdue by hours with that to their next start time,
   * because a service may be in use now.
   */
  #passOver(now: Date): void {
    for (const [processName, { rhythm, next }] of this.#plans) {
      if (this.#due.has(processName) || !isMissed(next, now)) continue;
      this.#keep(processName, planFromNextStart(rhythm, now));
      const told = 'the clock was set ahead over its scheduled update, which is made at the next start time';
      this.#host.log.info(`${processName}: ${told}`);
    }
  }

  #isDue(block: NamedBlock, now: Date): boolean {
    return (this.nextAt(block) ?? NEVER) <= now;
  }

  async #run(processName: string): Promise<void> {
    try {
      // Other updates have come first, and the configuration may have changed meanwhile.
      const block = this.#blocks().find(candidate => candidate.processName === processName);
      if (block === undefined) this.#plans.delete(processName);
      else if (this.#isDue(block, new Date())) this.#planNext(processName, await this.#parts.update(block));
    } catch (error) {
      if (!this.#host.signal.aborted)
        this.#host.log.error(`the scheduled update of ${processName} failed: ${errorText(error)}`, error);
      this.#planNext(processName, false);
    } finally {
      this.#due.delete(processName);
    }
  }

  #planNext(processName: string, isPutOff: boolean): void {
    const plan = this.#plans.get(processName);
    if (plan === undefined) return;
    const now = new Date();
    const again = new Date(now.getTime() + this.#host.paced(DEFERRED_MS));
    const next = dueAfter(now, plan.firstDay, plan.rhythm);
    this.#keep(processName, { ...plan, next: isPutOff && again < next ? again : next });
  }

  #planOf(block: NamedBlock): Plan | undefined {
    const { processName } = block;
    const { enabled, intervalHours, startTime, warning } = autoUpdate(block.block);
    const known = this.#plans.get(processName);
    const now = new Date();
    const isPossible = enabled && this.#parts.isPossible(block);
    if (isPossible === false) this.#forget(processName);
    else if (!isPossible && known !== undefined && isMissed(known.next, now))
      this.#keep(processName, planFromNextStart(known.rhythm, now));
    if (!isPossible) return undefined;
    const rhythm = { intervalHours, startTime, timeZone: this.#timeZone() };
    if (known !== undefined && deepEqual(known.rhythm, rhythm) && isNear(known, now)) return known;
    if (warning !== null) this.#host.log.warn(`${processName}: ${warning}`);
    const kept =
      known === undefined ? this.#keptPlan(this.#parts.records.schedule(processName), rhythm, now) : undefined;
    const firstDay = dayOf(now, rhythm);
    const plan = kept ?? { rhythm, firstDay, next: dueAfter(now, firstDay, rhythm) };
    this.#keep(processName, plan);
    return plan;
  }

  /** The plan of an earlier host, if it still applies. A missed update is made up for at the next start time. */
  #keptPlan(record: ScheduleRecord | undefined, rhythm: Rhythm, now: Date): Plan | undefined {
    if (record === undefined) return undefined;
    const { interval_hours: intervalHours, start_time: startTime, time_zone: timeZone } = record;
    if (!deepEqual({ intervalHours, startTime, timeZone }, rhythm)) return undefined;
    const plan = { rhythm, firstDay: new Date(record.first_day), next: new Date(record.next_check_at * MS_PER_S) };
    if (!isNear(plan, now)) return undefined;
    return plan.next > this.#startedAt && !isMissed(plan.next, now) ? plan : planFromNextStart(rhythm, now);
  }

  #keep(processName: string, plan: Plan): void {
    this.#plans.set(processName, plan);
    const { intervalHours, startTime, timeZone } = plan.rhythm;
    void this.#parts.records.setSchedule(processName, {
      interval_hours: intervalHours,
      start_time: startTime,
      time_zone: timeZone,
      first_day: plan.firstDay.toISOString().slice(0, 10),
      next_check_at: Math.floor(plan.next.getTime() / MS_PER_S),
    });
  }

  #forget(processName: string): void {
    this.#plans.delete(processName);
    void this.#parts.records.setSchedule(processName, null);
  }

  #blocks(): readonly NamedBlock[] {
    return this.#host.use('config.store').blocks();
  }

  #timeZone(): string {
    const zone = this.#host.use('config.store').get('tz');
    if (typeof zone === 'string' && isTimeZone(zone)) return zone;
    // Read once, and only when needed, because the first call takes milliseconds.
    this.#localZone ??= new Intl.DateTimeFormat().resolvedOptions().timeZone;
    return this.#localZone;
  }
}

function planFromNextStart(rhythm: Rhythm, now: Date): Plan {
  const firstDay = nextStartDay(now, rhythm);
  return { rhythm, firstDay, next: dueAfter(now, firstDay, rhythm) };
}

/** Whether a due time passed hours ago: the clock was set ahead, or the source of the program was missing. */
function isMissed(next: Date, now: Date): boolean {
  return now.getTime() - next.getTime() > LARGE_STEP_MS;
}

/** Whether the plan is at most an interval away. If not, the clock was set back after the plan was made. */
function isNear({ next, rhythm }: Plan, now: Date): boolean {
  return next.getTime() - now.getTime() <= rhythm.intervalHours * HOUR_MS + 2 * DAY_MS;
}
