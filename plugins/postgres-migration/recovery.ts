// Brings migrations that the end of a host has interrupted to their end. A service starts only once its files and its
// block fit together, so that it starts on complete data. PostgreSQL is cleared up once it runs.
import type { HeldProcess } from '../process/contract.ts';
import { faultOfBackup } from './backup.ts';
import { finalize, setAside, stopAndProve } from './cutover.ts';
import { killLeftHelper } from './helper-process.ts';
import { hasReached, isActive, type JobRecord } from './job.ts';
import type { Leftovers } from './leftovers.ts';
import { LiveJob } from './live-job.ts';
import type { MigrationContext } from './migration-context.ts';
import type { Migrations } from './migrations.ts';
import { restoreService } from './restore.ts';
import { rollBack } from './rollback.ts';
import { waitUntilHealthy } from './service-watch.ts';
import { isMovedBy, type Subject } from './subject.ts';

/** An interrupted job, and how far its recovery is. */
interface Interrupted {
  readonly record: JobRecord;
  /** Whether a later job of the process was begun. This one had ended then, though its end is not on disk. */
  readonly isOvertaken: boolean;
  /**
   * The restoring of the service, which `run` or the start of the service begins, whichever is first; undefined until
   * then, and after a failure.
   */
  restored: Promise<boolean> | undefined;
  /** Whether `run` failed to bring the job to its end, so that the start of the service tries again. */
  isLeft: boolean;
}

export class Recovery {
  readonly #context: MigrationContext;
  readonly #migrations: Migrations;
  readonly #interrupted: readonly Interrupted[];
  readonly #leftovers: Leftovers;
  /** Whether no boot will start the services any more, because only this plugin was loaded anew. */
  #isBooted = false;

  constructor(
    context: MigrationContext,
    { migrations, leftovers }: { readonly migrations: Migrations; readonly leftovers: Leftovers },
    interrupted: readonly JobRecord[],
  ) {
    this.#context = context;
    this.#migrations = migrations;
    this.#leftovers = leftovers;
    this.#interrupted = interrupted.map(record => {
      const others = context.files.list(record.job.process_name);
      const isOvertaken = others.some(({ sequence = 0 }) => sequence > (record.sequence ?? 0));
      return { record, isOvertaken, restored: undefined, isLeft: false };
    });
  }

  /** Resolves when the process can start on complete data. */
  async beforeStart(processName: string): Promise<void> {
    for (const one of this.#interrupted) {
      const isOwn = one.record.job.process_name === processName && !one.isOvertaken;
      if (!isOwn || !isRestorable(one.record)) continue;
      const isRestored = await this.#restore(one);
      if (isRestored && one.isLeft) await this.#endRestored(one).catch(error => this.#leave(one, error));
    }
  }

  /** Brings every interrupted job to its end. */
  async run(): Promise<void> {
    const { host, places } = this.#context;
    this.#isBooted = host.use('process.supervisor').settledMs !== null;
    for (const one of this.#interrupted) await this.#recover(one).catch(error => this.#leave(one, error));
    for (const jobId of await places.leftWork()) {
      const record = this.#context.files.get(jobId);
      if (record === undefined || !isActive(record.job)) await places.removeWork(jobId);
    }
    await this.#leftovers.clear();
  }

  async #recover(one: Interrupted): Promise<void> {
    const { record } = one;
    const { job, work } = record;
    const { files, host } = this.#context;
    if (work.helper !== null) await killLeftHelper(work.helper);
    const live = new LiveJob(record, files, host);
    if (one.isOvertaken)
      return this.#interrupt(live, `a later one of ${job.process_name} was begun since, so nothing was touched`);
    if (job.status === 'rolling_back') return this.#rollBack(one);
    if (job.mode === 'rehearsal' || !hasReached(job, 'cold_backup_verified')) return this.#endUntouched(record, live);
    const fault = await faultOfBackup(job.backup_dir ?? '', work.backup);
    if (fault !== undefined)
      return this.#interrupt(live, `its backup cannot be relied on (${fault}), so nothing was touched`);
    if (!this.#isConfigured(job)) return this.#keepForLater(one, live);
    const subject = this.#migrations.subject(job.process_name);
    if (!isTakenBack(record, subject)) {
      if (hasReached(job, 'healthy')) return finalize(this.#context, { subject, live }, live.timings);
      if (hasReached(job, 'service_started')) return this.#watch(subject, live);
    }
    await this.#migrations.resume(subject, record, async (_live, held) => {
      const isUp = held.snapshot().pid !== null && one.restored === undefined;
      if (isUp) await stopAndProve(this.#context, held);
      await this.#restore(one);
      if (isUp) await held.start();
      else if (this.#isBooted) await this.#startAgain(job, held);
    });
    await this.#endRestored(one);
  }

  /** Ends a job that has changed nothing of its service, though it may have stopped it. */
  async #endUntouched(record: JobRecord, live: LiveJob): Promise<void> {
    const { job, work } = record;
    const { places } = this.#context;
    await places.removeWork(job.job_id);
    await places.removeBackup(job.process_name, job.job_id);
    await this.#interrupt(live, `${job.process_name} was not changed`, { isUndoDue: job.status !== 'queued' });
    if (!this.#isBooted || work.stoppedAtMs === null || !this.#isConfigured(job)) return;
    const subject = this.#migrations.subject(job.process_name);
    await this.#migrations.resume(subject, record, (_live, held) => this.#startAgain(job, held));
  }

  /** Starts a service that the migration has stopped. */
  async #startAgain({ was_running: wasRunning }: JobRecord['job'], held: HeldProcess): Promise<void> {
    const { pid, stoppedByUser } = held.snapshot();
    if (pid === null && wasRunning && !stoppedByUser) await held.start();
  }

  #leave(one: Interrupted, error: unknown): void {
    one.isLeft = true;
    const { process_name: processName } = one.record.job;
    this.#context.host.log.error(`the interrupted migration of ${processName} could not be brought to its end`, error);
  }

  async #endRestored(one: Interrupted): Promise<void> {
    const { files, host, places } = this.#context;
    await places.removeWork(one.record.job.job_id);
    await this.#end(new LiveJob(one.record, files, host));
    one.isLeft = false;
  }

  async #rollBack(one: Interrupted): Promise<void> {
    const { record } = one;
    const fault = await faultOfBackup(record.job.backup_dir ?? '', record.work.backup);
    const { files, host } = this.#context;
    if (fault !== undefined)
      return this.#interrupt(new LiveJob(record, files, host), `its backup cannot be relied on: ${fault}`);
    if (!this.#isConfigured(record.job)) return this.#keepForLater(one, new LiveJob(record, files, host));
    const subject = this.#migrations.subject(record.job.process_name);
    await this.#migrations.resume(subject, record, (live, held, signal) =>
      rollBack(this.#context, { subject, live, held, signal }),
    );
  }

  /** Whether the service that was moved is still there. An invalid configuration does not say that it is not. */
  #isConfigured(job: JobRecord['job']): boolean {
    const store = this.#context.host.use('config.store');
    return store.state !== 'valid' || isMovedBy(store.findBlock(job.process_name), job);
  }

  /** Ends a job whose service was taken out of the configuration. It can be rolled back once the service is there. */
  async #keepForLater(one: Interrupted, live: LiveJob): Promise<void> {
    const { process_name: processName, backup_dir: directory } = live.job;
    const what = `the configuration has ${processName} no more, so nothing was touched; its backup is ${directory}, from which it can be rolled back once it is there again`;
    // Before its promotion nothing but the migration itself can have used a database.
    const isUndoDue = !hasReached(live.job, 'target_promoted');
    await this.#interrupt(live, what, { isRollbackAvailable: true, isUndoDue });
    one.isLeft = true;
  }

  /** Completes the cutover of a service that the boot starts on PostgreSQL, or that never ended, once it is healthy. */
  async #watch(subject: Subject, live: LiveJob): Promise<void> {
    const { host } = this.#context;
    try {
      if (live.job.was_running) await waitUntilHealthy(host, subject.processName, host.signal, { isStarted: false });
    } catch (error) {
      if (host.signal.aborted) throw error;
      return this.#interrupt(live, `${subject.processName} is not healthy on PostgreSQL; roll it back`, {
        isRollbackAvailable: true,
      });
    }
    await finalize(this.#context, { subject, live }, live.timings, { recovered_after_restart: true });
  }

  #restore(one: Interrupted): Promise<boolean> {
    one.restored ??= this.#restoreNow(one.record).catch((error: unknown) => {
      one.restored = undefined;
      throw error;
    });
    return one.restored;
  }

  /** False when the backup cannot be relied on; nothing is touched then. */
  async #restoreNow(record: JobRecord): Promise<boolean> {
    const { files, host } = this.#context;
    const { job, work } = record;
    // A service that has the name now is another one.
    if (!this.#isConfigured(job)) return false;
    if ((await faultOfBackup(job.backup_dir ?? '', work.backup)) !== undefined) return false;
    const live = new LiveJob(record, files, host);
    const subject = this.#migrations.subject(job.process_name);
    await restoreService(this.#context, { subject, live, signal: host.signal }, { keepsPresent: false });
    return true;
  }

  async #interrupt(
    live: LiveJob,
    what: string,
    { isUndoDue = false, isRollbackAvailable = false } = {},
  ): Promise<void> {
    const message = `Stackwarden ended during the migration; ${what}`;
    live.tell('interrupted', 100, message);
    const error = { message, code: 'migration.interrupted', stage: live.job.rollback_checkpoint ?? 'preparation' };
    const preserved = hasReached(live.job, 'target_promoted') ? setAside(live.work) : [];
    const work = { isUndoDue, helper: null, preserved };
    await live.end('interrupted', { error, rollback_available: isRollbackAvailable }, work);
    this.#context.host.log.warn(`${live.job.process_name}: ${message}`);
  }

  async #end(live: LiveJob): Promise<void> {
    const message = `Stackwarden ended during the migration; ${live.job.process_name} is on SQLite as before`;
    live.tell('failed', 100, message);
    const error = { message, code: 'migration.interrupted', stage: live.job.rollback_checkpoint ?? 'preparation' };
    await live.end('failed_rolled_back', { error, rollback_available: false }, { isUndoDue: true, helper: null });
    this.#context.host.log.warn(message);
  }
}

/** Whether the files and the block of the service have to be put back before it starts. */
function isRestorable({ job, work }: JobRecord): boolean {
  const isBetween = hasReached(job, 'cold_backup_verified') && (!hasReached(job, 'service_started') || work.isUndoDue);
  return job.mode === 'cutover' && job.status !== 'rolling_back' && isBetween;
}

/**
 * Whether the host has ended while it took the job back. A full disk may have kept that out of the record; the block
 * says SQLite then.
 */
function isTakenBack({ work }: JobRecord, { block }: Subject): boolean {
  return work.isUndoDue || block.postgres_enabled !== true;
}
