// All migrations of the host: checked, queued and run one after the other, each with its service held from the moment
// it is asked for.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Problem } from '#core';
import { doneOrLate } from '#kit/deadline';
import { WorkQueue } from '#kit/work-queue';
import type { HeldProcess, ProcessSupervisor } from '../process/contract.ts';
import { isActive, type JobRecord, type MigrationJob, newRecord } from './job.ts';
import type { Leftovers } from './leftovers.ts';
import { LiveJob } from './live-job.ts';
import { isEnding, migrate } from './migration.ts';
import type { MigrationContext } from './migration-context.ts';
import { failureOf } from './migration-fault.ts';
import { confirmationText, preflight } from './preflight.ts';
import { checkBackup, rollBack } from './rollback.ts';
import { isMovedBy, Subject } from './subject.ts';
import type { Report, StartBody } from './wire.ts';

const HOLD_MS = 24 * 60 * 60_000;
/** How long a request waits until what earlier migrations have left is removed. */
const CLEAR_MS = 10_000;
const REASON = 'it is being moved to PostgreSQL';
const SERVER_REASON = 'a service is being moved to it';
const MODES = ['rehearsal', 'cutover'] as const;
const ROLLED_BACK_FROM: readonly MigrationJob['status'][] = ['completed', 'failed', 'interrupted', 'rollback_failed'];

export class Migrations {
  readonly #context: MigrationContext;
  readonly #leftovers: Leftovers;
  readonly #queue = new WorkQueue({ concurrency: 1 });
  /** Processes with a migration that was asked for or is under way. */
  readonly #reserved = new Set<string>();
  /** By process name, promises that resolve when the migration under way has ended. */
  readonly #kept = new Map<string, Promise<void>>();

  constructor(context: MigrationContext, leftovers: Leftovers) {
    this.#context = context;
    this.#leftovers = leftovers;
  }

  subject(processName: string): Subject {
    return Subject.of(this.#context.host, this.#context.services, processName);
  }

  async report(processName: string): Promise<Report> {
    return preflight(this.#context, this.subject(processName));
  }

  /** Queues a job, which is on disk when this resolves. Rejects with a Problem. */
  async start(body: StartBody): Promise<MigrationJob> {
    const mode = checkRequest(body);
    const subject = this.subject(body.process_name);
    return this.#reserve(subject.processName, async keep => {
      // A server that does not answer holds up the removal; the report then says so.
      const isClear = await doneOrLate(
        this.#leftovers.clear().then(() => true),
        CLEAR_MS,
      );
      const report = await preflight(this.#context, subject, { includesLogs: body.include_logs });
      const failed = report.checks.filter(({ status }) => status === 'fail').map(({ id }) => id);
      if (failed.length > 0)
        throw new Problem(400, `${subject.processName} cannot be moved yet; these checks failed: ${failed.join(', ')}`);
      if (isClear !== true)
        throw new Problem(
          503,
          'What earlier migrations have left in PostgreSQL is still removed; try again in a minute',
        );
      const live = await this.#create(subject, report, mode, body.include_logs);
      keep((await this.#begin(subject, live)).ended);
      return live.job;
    });
  }

  /** Resolves when the service is back on SQLite. Rejects with a Problem. */
  async rollBack(jobId: string, confirmation: string): Promise<MigrationJob> {
    const { subject } = this.#toRollBack(jobId, confirmation);
    return this.#reserve(subject.processName, async keep => {
      // Another rollback of it may have ended while this one waited.
      const { record } = this.#toRollBack(jobId, confirmation);
      await checkBackup(record);
      const live = this.#live(record);
      const ended = this.#held(subject, 'it is brought back to SQLite', held =>
        rollBack(this.#context, { subject, live, held, signal: this.#signal(held) }),
      );
      keep(ended);
      await ended;
      return live.job;
    });
  }

  /** Throws a Problem when the job cannot be rolled back. */
  #toRollBack(jobId: string, confirmation: string): { readonly record: JobRecord; readonly subject: Subject } {
    const record = this.#context.files.get(jobId);
    if (record === undefined) throw new Problem(404, 'There is no migration with this job_id');
    const { job } = record;
    const wanted = `ROLLBACK ${job.process_name}`;
    if (confirmation !== wanted) throw new Problem(400, `Confirm by sending exactly ${wanted}`);
    if (isActive(job)) throw new Problem(409, 'This migration is still under way; wait for its end');
    if (job.mode !== 'cutover' || !job.rollback_available || !ROLLED_BACK_FROM.includes(job.status))
      throw new Problem(400, `A ${job.mode} that is ${job.status} cannot be rolled back`);
    const subject = this.subject(job.process_name);
    const { service_key: key, instance_name: instance } = job;
    if (!isMovedBy(subject.named, job))
      throw new Problem(
        400,
        `${job.process_name} is not the service that was moved; name the one at ${[key, instance ?? []].flat().join('.')} so`,
      );
    return { record, subject };
  }

  /** Holds the service while `work` brings a job of an earlier host to its end. */
  async resume<Value>(
    subject: Subject,
    record: JobRecord,
    work: (live: LiveJob, held: HeldProcess, signal: AbortSignal) => Promise<Value>,
  ): Promise<Value> {
    return this.#reserve(subject.processName, keep => {
      const ended = this.#held(subject, 'its migration to PostgreSQL is brought to an end', held =>
        work(this.#live(record), held, this.#signal(held)),
      );
      keep(ended);
      return ended;
    });
  }

  /** Resolves when no migration is under way any more. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#kept.values()]);
  }

  #live(record: JobRecord): LiveJob {
    return new LiveJob(record, this.#context.files, this.#context.host);
  }

  #signal(held: HeldProcess): AbortSignal {
    return AbortSignal.any([this.#context.host.signal, held.signal]);
  }

  get #supervisor(): ProcessSupervisor {
    return this.#context.host.use('process.supervisor');
  }

  /** Refuses other migrations of the process while `work` runs. `keep` prolongs this until its promise has settled. */
  async #reserve<Value>(
    processName: string,
    work: (keep: (until: Promise<unknown>) => void) => Promise<Value>,
  ): Promise<Value> {
    // The record of a job shows its end a moment before its service is free again.
    if (!this.#context.files.list(processName).some(({ job }) => isActive(job))) await this.#kept.get(processName);
    if (this.#reserved.has(processName))
      throw new Problem(409, `A migration of ${processName} is under way; wait for its end`);
    const held = this.#supervisor.get(processName)?.held ?? null;
    if (held !== null) throw new Problem(409, `${processName} is held: ${held.reason}; try again when that is done`);
    this.#reserved.add(processName);
    let kept: Promise<void> | undefined;
    const release = (): void => {
      this.#reserved.delete(processName);
      this.#kept.delete(processName);
    };
    try {
      return await work(until => {
        kept = until.then(release, release);
        this.#kept.set(processName, kept);
      });
    } finally {
      if (kept === undefined) release();
    }
  }

  async #create(subject: Subject, report: Report, mode: 'rehearsal' | 'cutover', includeLogs: boolean) {
    const { host } = this.#context;
    const databases = await subject.databases();
    const binding = {
      service_version: report.service_version,
      source_schema_fingerprint: report.source_schema_fingerprint,
      sources: Object.fromEntries(databases.map(({ label, source }) => [label, source.file])),
      targets: Object.fromEntries(databases.map(({ label, target }) => [label, target])),
    };
    const identity = {
      process_name: subject.processName,
      service_key: subject.service.configKey,
      instance_name: subject.instanceName,
      mode,
      include_logs: includeLogs && report.sqlite.log !== undefined,
      preflight: report,
      binding,
      was_running: subject.isRunning === true,
    };
    const record = newRecord(identity, databases);
    const rehearsal = mode === 'cutover' ? this.#rehearsalFor(subject.processName, binding) : undefined;
    record.job.rehearsal_job_id = rehearsal?.job.job_id ?? null;
    const live = this.#live(record);
    try {
      await live.change({});
    } catch (error) {
      this.#context.files.forget(record);
      host.log.error('a migration could not be recorded', error);
      throw new Problem(
        500,
        `The migration was not begun, because it cannot be recorded below ${this.#context.places.root}`,
      );
    }
    return live;
  }

  /** The newest completed rehearsal of the same version, tables and names. */
  #rehearsalFor(processName: string, binding: MigrationJob['binding']): JobRecord | undefined {
    const wanted = JSON.stringify(binding);
    return this.#context.files
      .list(processName)
      .find(
        ({ job }) => job.mode === 'rehearsal' && job.status === 'completed' && JSON.stringify(job.binding) === wanted,
      );
  }

  /**
   * Resolves as soon as the service is held; `ended` resolves when the job has ended. Rejects with a Problem when it
   * cannot be held.
   */
  async #begin(subject: Subject, live: LiveJob): Promise<{ readonly ended: Promise<void> }> {
    const run = (held: HeldProcess) => migrate(this.#context, { subject, live, held, signal: this.#signal(held) });
    let refusal: unknown;
    let isOver = false;
    const ended = this.#held(subject, REASON, held => this.#queue.add(() => this.#withServer(() => run(held))))
      .catch(async (error: unknown) => {
        refusal = error;
        await this.#endBefore(live, error);
      })
      .finally(() => {
        isOver = true;
      });
    while (!isOver && this.#supervisor.get(subject.processName)?.held === null) await nextTurn();
    if (isOver && refusal instanceof Problem) throw refusal;
    return { ended };
  }

  /**
   * Ends a job whose service or server could not be held. When the host is ending, the job is left to its next start.
   */
  async #endBefore(live: LiveJob, error: unknown): Promise<void> {
    const { host } = this.#context;
    if (isEnding(host)) return;
    host.log.error(`the migration of ${live.job.process_name} could not be brought to its end`, error);
    if (live.job.status !== 'queued') return;
    live.tell('failed', 100, `${live.job.process_name} was not changed`);
    await live.end('failed_rolled_back', { error: failureOf(error, 'preflight') });
  }

  /** Holds the PostgreSQL server, so that nothing else starts, stops or changes it during `work`. */
  async #withServer(work: () => Promise<void>): Promise<void> {
    const name = this.#context.server.managed.place()?.processName;
    if (name === undefined) throw new Problem(503, 'The configuration has no PostgreSQL server any more');
    await this.#hold(name, SERVER_REASON, work);
  }

  #held<Value>(subject: Subject, reason: string, work: (held: HeldProcess) => Promise<Value>): Promise<Value> {
    return this.#hold(subject.processName, reason, work);
  }

  /** Refuses changes of the process and its block during `work`. */
  #hold<Value>(processName: string, reason: string, work: (held: HeldProcess) => Promise<Value>): Promise<Value> {
    const { guard, host } = this.#context;
    const options = { signal: host.signal, deadlineMs: HOLD_MS };
    let working: Promise<Value> | undefined;
    const run = (held: HeldProcess): Promise<Value> => {
      working = work(held);
      return working;
    };
    return guard.guard(processName, reason, () =>
      this.#supervisor.hold(processName, reason, run, options).catch((error: unknown) => {
        // When a hold ends early, the work goes on to its next step, and nothing else may begin before.
        if (working === undefined) throw error;
        return working;
      }),
    );
  }
}

function checkRequest(body: StartBody): (typeof MODES)[number] {
  const mode = MODES.find(one => one === body.mode);
  if (mode === undefined) throw new Problem(400, `mode must be ${MODES.join(' or ')}, not ${body.mode.slice(0, 50)}`);
  const wanted = confirmationText(body.process_name);
  if (body.confirmation !== wanted) throw new Problem(400, `Confirm by sending exactly ${wanted}`);
  const missing = (['acknowledge_unsupported', 'acknowledge_backup', 'acknowledge_target_reset'] as const).find(
    name => !body[name],
  );
  if (missing !== undefined) throw new Problem(400, `${missing} must be true`);
  return mode;
}
