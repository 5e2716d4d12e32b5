// Scheduled backups: checks at intervals which are due, and makes them one after the other as jobs.
import type { Host, NamedBlock } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { errorText } from '#kit/error-text';
import { isTimeZone } from '#kit/time-zone';
import { type BackupOptions, type BackupResult, checkedRoots } from '../backup/backup-request.ts';
import type { SymlinkJob } from '../jobs/symlink-job.ts';
import type { SymlinkJobs } from '../jobs/symlink-jobs.ts';
import { checkedManifestPath } from '../manifest/manifest-path.ts';
import { checkedPath, type Places } from '../places/path-rules.ts';
import { type BackupSettings, backupSettings } from './backup-settings.ts';
import { dueAfter, lastDueUpTo, type Rhythm } from './due-time.ts';
import { ManifestName } from './manifest-name.ts';
import type { PruneInput, PruneResult } from './prune-task.ts';
import type { ScheduleRecord, ScheduleState } from './schedule-state.ts';
import { unrecordedRun } from './unrecorded-run.ts';

const LOOK_MS = 15_000;
/** How long after the start missed runs are made up for, because mounts must be up first. */
const AFTER_START_MS = 600_000;
const RETRY_MS = 900_000;
const MAX_RETRIES = 2;
const MS_PER_S = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** By how much changes of clocks and time zones may lengthen an interval. */
const SLACK_MS = 48 * HOUR_MS;

/** The next run of one process. */
interface Plan {
  /** The rhythm from which the plan was made. */
  readonly rhythm: Rhythm;
  /** When the run is due; `at` is when it is made, which may be later. */
  readonly due: Date;
  readonly at: Date;
}

type RunEnd = Pick<ScheduleRecord, 'last_status' | 'last_backup_at' | 'retries' | 'retry_at'>;
type RunOutcome = Omit<ScheduleRecord, keyof RunEnd | 'last_due' | 'last_run'>;

const NOTHING_DONE = {
  scanned_symlinks: null,
  recorded_entries: null,
  errors: 0,
  pruned_backups: [],
  retention_errors: [],
  warning: null,
};

export interface ScheduleParts {
  readonly jobs: SymlinkJobs;
  readonly places: Places;
  readonly state: ScheduleState;
  /** Config keys of the services whose links can be saved on a schedule. */
  readonly supported: readonly string[];
}

export class BackupSchedule {
  readonly #host: Host;
  readonly #parts: ScheduleParts;
  readonly #startedAt = new Date();
  readonly #plans = new Map<string, Plan>();
  /** Whether the first check is over. A run that is overdue later was not missed: its backup was enabled meanwhile. */
  #hasLooked = false;
  /** The process whose backup is being made. */
  #running: string | undefined;
  /** Processes that were rescheduled after their last run. */
  readonly #rescheduled = new Set<string>();
  readonly #endings = new Map<string, (job: SymlinkJob) => void>();
  #recording: Promise<void> | undefined;
  /** Whether the runs of earlier hosts are recorded, so that what is due is known. */
  #isRecorded = false;

  constructor(host: Host, parts: ScheduleParts) {
    this.#host = host;
    this.#parts = parts;
  }

  start(): void {
    this.#parts.jobs.watch(job => {
      if (job.endedAt !== null) this.#endings.get(job.id)?.(job);
    });
    this.#host.every(this.#host.paced(LOOK_MS), () => {
      this.#recording ??= this.#recordRuns();
      if (this.#isRecorded) this.#look();
    });
  }

  /** Has the plan of a process made again from its configuration. */
  reschedule({ processName }: NamedBlock): void {
    this.#plans.delete(processName);
    this.#rescheduled.add(processName);
  }

  /** Forgets processes that the configuration does not have any more. */
  async forgetOthers(blocks: readonly NamedBlock[]): Promise<void> {
    const known = new Set(blocks.map(({ processName }) => processName));
    for (const name of this.#parts.state.names().filter(name => !known.has(name))) {
      this.#plans.delete(name);
      await this.#parts.state.remove(name);
    }
  }

  isSupported({ configKey }: NamedBlock): boolean {
    return this.#parts.supported.includes(configKey);
  }

  settingsOf(block: NamedBlock): BackupSettings {
    return backupSettings(block, this.#parts.places);
  }

  /** Throws a Problem 400 when the configured template cannot be used. */
  manifestName(block: NamedBlock): ManifestName {
    const template = checkedPath(this.settingsOf(block).path, 'symlink_backup_path', this.#parts.places);
    return new ManifestName({ template, processName: block.processName });
  }

  /** What a backup at this moment does. Throws a Problem 400 when the configured template or roots cannot be used. */
  optionsAt(block: NamedBlock, moment: Date): BackupOptions {
    const { places } = this.#parts;
    const { roots, includeBroken } = this.settingsOf(block);
    return {
      process_name: block.processName,
      backup_path: checkedManifestPath(this.manifestName(block).at(moment), 'symlink_backup_path', places),
      roots: checkedRoots(roots, places),
      include_broken: includeBroken,
      allow_empty: false,
    };
  }

  isRunning({ processName }: NamedBlock): boolean {
    return this.#running === processName;
  }

  /** How the last run ended; undefined when there was none, or the process was rescheduled since. */
  outcome({ processName }: NamedBlock): ScheduleRecord['last_status'] | undefined {
    return this.#rescheduled.has(processName) ? undefined : this.record(processName)?.last_status;
  }

  record(processName: string): ScheduleRecord | undefined {
    return this.#parts.state.get(processName);
  }

  /** When the next run is made; null when none will be. */
  nextAt(block: NamedBlock): Date | null {
    const settings = this.settingsOf(block);
    return settings.enabled && this.isSupported(block) ? this.#planOf(block, settings).at : null;
  }

  #blocks(): NamedBlock[] {
    const blocks = this.#host.use('config.store').blocks();
    return blocks.filter(block => this.isSupported(block));
  }

  /** Records what earlier hosts have made and were killed before they could record it. Never rejects. */
  async #recordRuns(): Promise<void> {
    for (const block of this.#blocks().filter(block => this.settingsOf(block).enabled)) {
      await this.#recordRun(block).catch((error: unknown) => {
        if (this.#host.signal.aborted) return;
        const what = `whether an earlier run of Stackwarden has saved the links of ${block.processName}`;
        this.#host.log.warn(`${what} is not known; they may be saved again`, error);
      });
    }
    this.#isRecorded = true;
  }

  async #recordRun(block: NamedBlock): Promise<void> {
    const { processName } = block;
    const record = this.record(processName);
    const run = await unrecordedRun(this.#parts.jobs, processName, record, this.#host.signal);
    if (run === undefined) return;
    const { at, manifest, entries, result } = run;
    const rhythm = this.#rhythmOf(this.settingsOf(block));
    const counted = dueBefore(at, record, rhythm);
    const made = { ...NOTHING_DONE, message: messageOf(entries, manifest), last_manifest: manifest };
    // Without the result it is not known whether older manifests may go; the next run looks after them.
    const outcome = result === null ? { ...made, recorded_entries: entries } : await this.#outcomeOf(block, result);
    // In the same turn as the record changes, because answers show both.
    this.#plans.delete(processName);
    await this.#remember(block, { due: counted, rhythm }, { ...outcome, ...completedAt(at) }, at);
    this.#host.log.info(`${messageOf(entries, manifest)} by an earlier run of Stackwarden, which did not record it`);
  }

  #look(): void {
    const now = new Date();
    const due = this.#blocks().flatMap(block => {
      const settings = this.settingsOf(block);
      if (!settings.enabled) this.#plans.delete(block.processName);
      const plan = settings.enabled ? this.#planOf(block, settings) : undefined;
      return plan !== undefined && plan.at <= now ? [{ block, plan }] : [];
    });
    this.#hasLooked = true;
    const [first] = due.sort((a, b) => a.plan.at.getTime() - b.plan.at.getTime());
    if (first !== undefined && this.#running === undefined) void this.#make(first.block, first.plan);
  }

  #rhythmOf({ intervalHours, startTime }: BackupSettings): Rhythm {
    return { intervalHours, startTime, timeZone: this.#timeZone() };
  }

  #planOf({ processName }: NamedBlock, settings: BackupSettings): Plan {
    const rhythm = this.#rhythmOf(settings);
    const known = this.#plans.get(processName);
    if (known !== undefined && deepEqual(known.rhythm, rhythm) && isNear(known.at, rhythm)) return known;
    const plan = { rhythm, ...this.#nextRun(this.record(processName), rhythm) };
    this.#plans.set(processName, plan);
    return plan;
  }

  #nextRun(record: ScheduleRecord | undefined, rhythm: Rhythm): Pick<Plan, 'due' | 'at'> {
    const now = new Date();
    const afterStart = new Date(this.#startedAt.getTime() + this.#host.paced(AFTER_START_MS));
    if (record !== undefined && record.retry_at !== null) {
      const at = dateOf(Math.min(record.retry_at, seconds(this.#retryAt())));
      return { due: dateOf(record.last_due), at: at < this.#startedAt ? afterStart : at };
    }
    const counted = dueAfter(record === undefined ? null : dateOf(record.last_due), now, rhythm);
    const due = isNear(counted, rhythm) ? counted : dueAfter(null, now, rhythm);
    if (due > now) return { due, at: due };
    if (!this.#hasLooked) return { due, at: afterStart };
    const next = dueAfter(null, now, rhythm);
    return { due: next, at: next };
  }

  async #make(block: NamedBlock, plan: Plan): Promise<void> {
    const { processName } = block;
    this.#running = processName;
    this.#rescheduled.delete(processName);
    const before = this.record(processName);
    try {
      const outcome = await this.#backUp(block);
      await this.#remember(block, plan, { ...outcome, ...completedAt(new Date()) });
    } catch (error) {
      // A run that was interrupted by the end of the host is made again after the next start.
      if (this.#host.signal.aborted || this.#host.stopping !== null) return;
      const retries = before?.retry_at == null ? 0 : before.retries + 1;
      await this.#remember(block, plan, {
        ...NOTHING_DONE,
        message: errorText(error),
        last_status: 'error',
        last_backup_at: before?.last_backup_at ?? null,
        last_manifest: before?.last_manifest ?? null,
        retries,
        retry_at: retries < MAX_RETRIES ? seconds(this.#retryAt()) : null,
      });
    } finally {
      this.#running = undefined;
      this.#plans.delete(processName);
    }
  }

  #retryAt(): Date {
    return new Date(Date.now() + this.#host.paced(RETRY_MS));
  }

  /** Makes one backup, with the settings of this moment. */
  async #backUp(block: NamedBlock): Promise<RunOutcome> {
    const { jobs } = this.#parts;
    const { processName } = block;
    const options = this.optionsAt(block, new Date());
    const order = { operation: 'symlink_manifest_backup' as const, processName, options };
    const ended = await this.#ended(await jobs.start(order, 'schedule'));
    const result = (await jobs.result(ended.id)) as BackupResult | null;
    if (result === null) throw new Error(ended.error?.message ?? 'The job has failed.');
    return this.#outcomeOf(block, result);
  }

  /** Removes older manifests, as far as the settings and the result say so. */
  async #outcomeOf(block: NamedBlock, result: BackupResult): Promise<RunOutcome> {
    const { retentionCount } = this.settingsOf(block);
    const pruned = (await this.#parts.jobs.readTask(
      'prune',
      {
        name: this.manifestName(block).input,
        keep: retentionCount,
        manifest: result.backup_manifest,
        entries: result.recorded_entries,
        errors: result.errors_total,
        missingRoots: result.missing_roots,
      } satisfies PruneInput,
      this.#host.signal,
    )) as PruneResult;
    return {
      message: messageOf(result.recorded_entries, result.backup_manifest),
      last_manifest: result.backup_manifest,
      scanned_symlinks: result.scanned_symlinks,
      recorded_entries: result.recorded_entries,
      errors: result.errors_total,
      pruned_backups: [...pruned.pruned],
      retention_errors: [...pruned.errors],
      warning: pruned.warning,
    };
  }

  #ended(job: SymlinkJob): Promise<SymlinkJob> {
    return new Promise(resolve => {
      this.#endings.set(job.id, ended => {
        this.#endings.delete(job.id);
        resolve(ended);
      });
      const present = this.#parts.jobs.get(job.id);
      if (present !== undefined && present.endedAt !== null) this.#endings.get(job.id)?.(present);
    });
  }

  async #remember(
    block: NamedBlock,
    { due, rhythm }: Pick<Plan, 'due' | 'rhythm'>,
    outcome: RunOutcome & RunEnd,
    now = new Date(),
  ): Promise<void> {
    const { processName } = block;
    if (this.#host.use('config.store').findBlock(processName) === undefined) return;
    const lastDue = due <= now ? lastDueUpTo(due, now, rhythm) : due;
    await this.#parts.state.set(processName, { ...outcome, last_due: seconds(lastDue), last_run: seconds(now) });
  }

  #timeZone(): string {
    const zone = this.#host.use('config.store').get('tz');
    const local = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;
    return typeof zone === 'string' && isTimeZone(zone) ? zone : local();
  }
}

/** The due time of a run that was made at `at`; `record` is that of the run before. */
function dueBefore(at: Date, record: ScheduleRecord | undefined, rhythm: Rhythm): Date {
  if (record === undefined) return earlier(at, dueAfter(null, new Date(at.getTime() - DAY_MS), rhythm));
  const last = dateOf(record.last_due);
  return earlier(at, record.retry_at === null ? dueAfter(last, at, rhythm) : last);
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}

function completedAt(at: Date): RunEnd {
  return { last_status: 'completed', last_backup_at: seconds(at), retries: 0, retry_at: null };
}

function messageOf(entries: number, manifest: string): string {
  return `${entries} links were saved to ${manifest}`;
}

/** Whether the time is at most an interval away. If not, the clock was set back after the time was computed. */
function isNear(at: Date, { intervalHours }: Rhythm): boolean {
  return at.getTime() - Date.now() <= intervalHours * HOUR_MS + SLACK_MS;
}

function seconds(moment: Date): number {
  return Math.floor(moment.getTime() / MS_PER_S);
}

function dateOf(unixSeconds: number): Date {
  return new Date(unixSeconds * MS_PER_S);
}
