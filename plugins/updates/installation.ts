// One installation of an update, from the look for the release until the service runs on it. When that fails, the old
// release is restored. An installation that the end of the host interrupts is completed after the next start.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type Host, type JobRun, Problem } from '#core';
import { errorText } from '#kit/error-text';
import { redact } from '#kit/redact';
import type { AvailableRelease, InstallCandidate, InstallSelector, Installs } from '../installs/contract.ts';
import type { HeldProcess, ProcessSnapshot } from '../process/contract.ts';
import { type Downtime, InstallationOutcome } from './installation-outcome.ts';
import type { OwedStarts } from './owed-starts.ts';
import { presentVersion } from './present-version.ts';
import { untilReady } from './readiness.ts';
import { isUpdate } from './selection.ts';
import type { UpdateRecords } from './update-records.ts';
import { notesOf } from './update-result.ts';
import { isSameVersion } from './version-order.ts';

const HOLD_REASON = 'it is being updated';
/** Longer than any preparation of a start. */
const HOLD_MS = 4 * 3_600_000;
const POLL_MS = 250;
const BOOT_LIMIT_MS = 3_600_000;
const RELOAD_LIMIT_MS = 60_000;
const MS_PER_S = 1_000;
/** The code of the Problem for a process that something else holds. */
const HELD = 'process.held';

export const orderSchema = z.lazy(() =>
  z.object({
    process_name: z.string(),
    selector: z.custom<InstallSelector>(value => typeof value === 'object' && value !== null && 'kind' in value),
    /** Whether a release is installed even if it is not newer than the present one. */
    is_wanted_anyway: z.boolean(),
  }),
);

export type InstallOrder = z.output<typeof orderSchema>;

/** The checkpoint of a job, saved before the steps after which the next host must resume it. */
const checkpointSchema = z.lazy(() =>
  z.union([
    z.object({ stage: z.literal('preparing') }),
    z.object({
      stage: z.literal('placing'),
      from: z.string().nullable(),
      to: z.string(),
      /** Processes that run from the folder and must run after the update. */
      running: z.array(z.string()),
      notes: z.object({ release_url: z.string().optional(), notes_label: z.string().optional() }),
    }),
  ]),
);

type Placing = Extract<z.output<typeof checkpointSchema>, { stage: 'placing' }>;

/** A process that runs from the folder. */
interface Member {
  readonly processName: string;
  readonly held: HeldProcess;
  readonly mustRun: boolean;
}

/** The hold of the processes has ended before the update, because process control was reloaded or the host stops. */
class HoldLost extends Error {
  readonly placing: Placing;

  constructor(placing: Placing) {
    super('the hold has ended before the update');
    this.placing = placing;
  }
}

export class Installation {
  readonly #host: Host;
  readonly #run: JobRun<InstallOrder>;
  readonly #outcome: InstallationOutcome;
  readonly #owed: OwedStarts;
  readonly #startedMs = performance.now();
  /** The signal of the job. After the deadline of the job it is that of the host, so that begun steps are completed. */
  #signal: AbortSignal;

  constructor(
    host: Host,
    { records, owed }: { readonly records: UpdateRecords; readonly owed: OwedStarts },
    run: JobRun<InstallOrder>,
  ) {
    this.#host = host;
    this.#owed = owed;
    this.#run = run;
    this.#signal = run.signal;
    this.#outcome = new InstallationOutcome(host, records, { id: run.id, processName: run.input.process_name });
  }

  /** Resolves when the outcome is recorded, even that of a failure. Rejects when the host or the plugin ends. */
  async run(): Promise<void> {
    const { checkpoint } = this.#run;
    let left = checkpoint === null ? null : checkpointSchema.parse(checkpoint);
    for (;;) {
      try {
        if (left === null) return await this.#install();
        if (left.stage === 'placing') return await this.#resume(left);
        return await this.#outcome.fail('Stackwarden ended before the update was prepared; nothing was changed', null);
      } catch (error) {
        await this.#endWithHost();
        this.#signal = this.#host.signal;
        if (!(error instanceof HoldLost)) return await this.#recordFault(error);
        left = error.placing;
      }
    }
  }

  get #name(): string {
    return this.#run.input.process_name;
  }

  async #install(): Promise<void> {
    const { input, signal, save } = this.#run;
    const installs = this.#host.use('installs');
    await save({ stage: 'preparing' });
    this.#refuseHeld();
    this.#tell('looks for the release');
    const from = await presentVersion(this.#host, this.#name);
    const release = await installs.latest(this.#name, { selector: input.selector, signal });
    const isPresent = from !== null && isSameVersion(release.version, from);
    const isWanted = input.is_wanted_anyway || isUpdate(input.selector, release.version, from);
    if (isPresent || !isWanted) return this.#outcome.leave(release, from);
    this.#tell(`prepares ${release.version}`);
    const candidate = await installs.prepare(this.#name, { selector: input.selector, signal });
    try {
      const folder = await installs.installed(this.#name);
      await this.#hold([this.#name, ...(folder?.sharedWith ?? [])], members =>
        this.#place(members, candidate, { from, release }),
      );
    } finally {
      await candidate
        .discard()
        .catch(error => this.#host.log.warn(`${candidate.version} of ${this.#name} stays`, error));
    }
  }

  #refuseHeld(): void {
    const held = this.#host.use('process.supervisor').get(this.#name)?.held ?? null;
    if (held !== null)
      throw new Problem(409, `${this.#name} is held: ${held.reason}; update it when that is done`, { code: HELD });
  }

  /** Holds all processes that run from the folder during `work`, so that nothing else starts or stops one of them. */
  async #hold(names: readonly string[], work: (members: readonly Member[]) => Promise<void>): Promise<void> {
    const options = { signal: this.#signal, deadlineMs: HOLD_MS };
    let working: Promise<void> | undefined;
    const holdRest = ([processName, ...rest]: readonly string[], members: readonly Member[]): Promise<void> => {
      if (processName === undefined) {
        working = work(members);
        return working;
      }
      return this.#host
        .use('process.supervisor')
        .hold(
          processName,
          HOLD_REASON,
          held => holdRest(rest, [...members, { processName, held, mustRun: mustRun(held.snapshot()) }]),
          options,
        );
    };
    try {
      await holdRest(names, []);
    } catch (error) {
      // When a hold ends early, the work still runs until its next step; its own error says more than that of the hold.
      if (working === undefined) throw error;
      await working;
    }
  }

  async #place(
    members: readonly Member[],
    candidate: InstallCandidate,
    { from, release }: { readonly from: string | null; readonly release: AvailableRelease },
  ): Promise<void> {
    const { save } = this.#run;
    const notes = notesOf(release);
    const placing: Placing = {
      stage: 'placing',
      from,
      to: candidate.version,
      running: members.filter(({ mustRun }) => mustRun).map(({ processName }) => processName),
      notes: { release_url: notes.release_url, notes_label: notes.notes_label },
    };
    await save(placing);
    this.#tell(`puts ${candidate.version} in place`);
    const isObserved = members[0]?.held.snapshot().pid !== null;
    const stoppedMs = performance.now();
    const downtime = (upMs: number | null): Downtime => ({
      install_duration_seconds: secondsBetween(this.#startedMs, performance.now()),
      ...(isObserved && upMs !== null
        ? { downtime_status: 'completed', downtime_seconds: secondsBetween(stoppedMs, upMs) }
        : { downtime_status: 'not_observed' }),
    });
    let isInPlace = false;
    let upMs: number | null;
    try {
      await Promise.all(members.map(({ held }) => held.stop()));
      await candidate.swap();
      isInPlace = true;
      this.#tell(`starts ${candidate.version}`);
      upMs = await this.#bringUp(members);
    } catch (error) {
      const back = await this.#takeBack(members, placing, error);
      const failed = isInPlace ? this.#failedVersion(placing, error) : {};
      return this.#outcome.fail(back.reason, back.present, { ...downtime(back.upMs), ...failed });
    }
    await this.#outcome.succeed(placing, members, downtime(upMs));
  }

  /** Keeps a schedule from installing the release again, unless only the state of the machine was to blame. */
  #failedVersion({ to }: Placing, error: unknown): { readonly failed_version?: string } {
    return this.#owed.isPassing(error) ? {} : { failed_version: to };
  }

  /**
   * Starts the processes that must run and waits until they are ready. Resolves with the monotonic time in milliseconds
   * at which the updated process became ready; null when it need not run.
   */
  async #bringUp(members: readonly Member[]): Promise<number | null> {
    const up = members.map(async ({ processName, held, mustRun }) => {
      if (!mustRun) return null;
      await held.start();
      return untilReady(this.#host, processName, held.signal);
    });
    const [main = null] = await Promise.all(up);
    return main;
  }

  /** Restores the old release if the new one is in place, and starts the processes. Rejects only with a HoldLost. */
  async #takeBack(
    members: readonly Member[],
    placing: Placing,
    error: unknown,
  ): Promise<{ readonly reason: string; readonly upMs: number | null; readonly present: string | null }> {
    refuseLost(members, placing);
    const { from, to } = placing;
    const reason = errorText(error);
    const old = from ?? 'the release before it';
    this.#tell(`takes ${to} back`);
    let told = `${reason}; ${old} is in place again`;
    let inPlace = from;
    try {
      await Promise.all(members.map(({ held }) => held.stop()));
      const installs = await this.#untilInstalls();
      const present = await installs.installed(this.#name);
      if (present?.version === to) inPlace = to;
      if (present === null || present.version === to) await installs.restorePrevious(this.#name);
      inPlace = from;
    } catch (fault) {
      refuseLost(members, placing);
      told = `${reason}; and ${old} could not be brought back: ${errorText(fault)}`;
    }
    try {
      // Started even when the old release could not be restored: the new one is better than none.
      return { reason: told, upMs: await this.#bringUp(members), present: inPlace };
    } catch (fault) {
      refuseLost(members, placing);
      return { reason: await this.#notReady(members, told, fault), upMs: null, present: inPlace };
    }
  }

  /** The message about an update after which the service could not be started. May plan a later start. */
  async #notReady(members: readonly Member[], told: string, fault: unknown): Promise<string> {
    const text = redact(`${told}, but not ready: ${errorText(fault)}`);
    if (!this.#owed.isPassing(fault)) return text;
    const meanwhile = `${text}; its start is tried again by itself`;
    const names = members.filter(({ mustRun }) => mustRun).map(({ processName }) => processName);
    await this.#owed.owe(names, { updated: this.#name, meanwhile, afterwards: redact(told) });
    return meanwhile;
  }

  /** Resolves when the service `installs` supports the process again, which it does not while plugins are reloaded. */
  async #untilInstalls(): Promise<Installs> {
    const limitMs = performance.now() + RELOAD_LIMIT_MS;
    while (this.#host.find('installs')?.isSupported(this.#name) !== true && performance.now() < limitMs)
      await delay(POLL_MS, undefined, { signal: this.#signal });
    return this.#host.use('installs');
  }

  /** Completes an installation that was interrupted while placing: starts the release in place, or restores the old. */
  async #resume(placing: Placing): Promise<void> {
    const { from, to, running } = placing;
    await this.#untilBooted();
    const present = await (await this.#untilInstalls()).installed(this.#name);
    await this.#hold([this.#name, ...(present?.sharedWith ?? [])], async found => {
      const members = found.map(member => ({ ...member, mustRun: running.includes(member.processName) }));
      if (present?.version !== to) {
        const reason = `Stackwarden ended during the update; ${from ?? 'the release before it'} is in place`;
        try {
          await this.#bringUp(members);
        } catch (fault) {
          refuseLost(members, placing);
          return this.#outcome.fail(await this.#notReady(members, reason, fault), from);
        }
        return this.#outcome.fail(reason, from);
      }
      try {
        await this.#bringUp(members);
      } catch (error) {
        const { reason, present } = await this.#takeBack(members, placing, error);
        const failed = this.#failedVersion(placing, error);
        return this.#outcome.fail(reason, present, { downtime_status: 'not_observed', ...failed });
      }
      await this.#outcome.succeed(placing, members, { downtime_status: 'not_observed' });
    });
  }

  /** Resolves when the boot has adopted, started or given up the process, and nothing holds it any more. */
  async #untilBooted(): Promise<void> {
    const limitMs = performance.now() + BOOT_LIMIT_MS;
    for (;;) {
      const supervisor = this.#host.find('installs') && this.#host.find('process.supervisor');
      const startup = supervisor?.startup();
      const state = startup?.services[this.#name]?.state;
      const isUp = supervisor?.get(this.#name)?.status === 'running';
      if (startup?.terminal || isUp || state === 'ready' || state === 'failed' || performance.now() > limitMs)
        return supervisor?.released(this.#name);
      await delay(POLL_MS, undefined, { signal: this.#signal });
    }
  }

  /** Throws when the host ends: the next host then resumes the job from its checkpoint. */
  async #endWithHost(): Promise<void> {
    const { signal } = this.#host;
    if (this.#host.stopping !== null && !signal.aborted) await once(signal, 'abort');
    signal.throwIfAborted();
  }

  async #recordFault(error: unknown): Promise<void> {
    const remedy = `see the log of ${this.#name}, and install it again`;
    if (this.#run.signal.aborted) await this.#outcome.fail(`it took longer than an update may; ${remedy}`, null);
    else if (error instanceof Problem && error.code === HELD) await this.#outcome.defer(error.message);
    else await this.#outcome.fail(errorText(error), null);
  }

  #tell(text: string): void {
    this.#run.report({ text });
  }
}

/** Whether the process must run after the update: it runs now, or only a failure keeps it from running. */
function mustRun({ pid, enabled, stoppedByUser, completed }: ProcessSnapshot): boolean {
  return pid !== null || (enabled && !stoppedByUser && completed === null);
}

/** Throws a HoldLost when a process is not held any more. */
function refuseLost(members: readonly Member[], placing: Placing): void {
  if (members.some(({ held }) => held.signal.aborted)) throw new HoldLost(placing);
}

function secondsBetween(fromMs: number, toMs: number): number {
  return Math.round((toMs - fromMs) / 10) / (MS_PER_S / 10);
}
