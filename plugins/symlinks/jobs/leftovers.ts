// Mends what interrupted jobs that write leave behind: a child that has not ended yet, an incomplete journal, and
// temporary links that were about to replace others.
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Host } from '#core';
import { orAborted } from '#kit/abort';
import { sendSignal } from '#kit/send-signal';
import type { TaskProcesses } from '../tasks/task-process.ts';
import { MendedJobs } from './mended-jobs.ts';
import type { Recovery } from './operation.ts';

const LOOK_MS = 100;
/** The start time in clock ticks since the boot: its index in /proc/[pid]/stat, counted after the name. */
const START_FIELD = 19;

/** A process, identified by its pid and its start time. */
const childSchema = z.object({ pid: z.int(), start: z.string() });

export interface CutOffJob {
  readonly id: string;
  /** How the log calls the job. */
  readonly name: string;
  readonly checkpoint: unknown;
  readonly recovery: Recovery | undefined;
}

export class Leftovers {
  readonly #host: Host;
  readonly #processes: TaskProcesses;
  readonly #mendedJobs: MendedJobs;
  #mended: Promise<void> = Promise.resolve();
  #setMended: () => void = () => undefined;
  isMended = true;

  /** Until `mend` is called, `whenMended` waits. */
  constructor(host: Host, processes: TaskProcesses) {
    this.#host = host;
    this.#processes = processes;
    this.#mendedJobs = new MendedJobs(host);
    this.#begin();
  }

  whenMended(signal: AbortSignal): Promise<void> {
    return orAborted(() => this.#mended, signal);
  }

  #begin(): void {
    this.isMended = false;
    this.#mended = new Promise(resolve => {
      this.#setMended = () => {
        this.isMended = true;
        resolve();
      };
    });
  }

  /** The identity of a child, for the record of its job. */
  async childOf(pid: number): Promise<z.output<typeof childSchema>> {
    return { pid, start: (await startOf(pid)) ?? '' };
  }

  /** Ends the children of jobs of earlier hosts, and mends what these jobs have left, unless that was done before. */
  async mend(jobs: readonly CutOffJob[]): Promise<void> {
    await this.#mendedJobs.load(new Set(jobs.map(({ id }) => id)));
    const open = jobs.filter(({ id }) => !this.#mendedJobs.has(id));
    for (const { checkpoint } of open) {
      const child = childSchema.safeParse(checkpoint);
      if (child.success) await this.#end(child.data);
    }
    for (const job of open) await this.#recover(job);
    this.#setMended();
  }

  /** Notes that a job has failed without leaving anything. */
  noteNothingLeft({ id }: Pick<CutOffJob, 'id'>): Promise<void> {
    return this.#mendedJobs.add(id);
  }

  /** Does the same for a job whose child gave no answer, after waiting until abandoned children are gone. */
  async mendAfter(job: CutOffJob): Promise<void> {
    this.#begin();
    await this.#processes.whenGone(this.#host.signal).catch(() => undefined);
    await this.#recover(job);
    this.#setMended();
  }

  /**
   * Runs the recovery of a job, which the next start repeats unless it was complete. A failure is logged, and what the
   * job has left stays as it is.
   */
  async #recover({ id, name, recovery }: CutOffJob): Promise<void> {
    const { signal, log } = this.#host;
    if (recovery === undefined || signal.aborted) return;
    const { task, input, place } = recovery;
    try {
      const isComplete = await this.#processes.run({ task, input, id, signal, writes: true });
      if (isComplete === true) await this.#mendedJobs.add(id);
    } catch (error) {
      if (!signal.aborted) log.error(`what ${name} has left in ${place} could not be mended`, error);
    }
  }

  /** Kills a child and waits until it has ended, for ever if it hangs in the kernel, because it could still write. */
  async #end({ pid, start }: z.output<typeof childSchema>): Promise<void> {
    for (let told = false; (await startOf(pid)) === start && !this.#host.signal.aborted; told = true) {
      if (!told) this.#host.log.warn(`process ${pid} of an earlier symlink operation has not ended; it is killed`);
      sendSignal(pid, 'SIGKILL');
      await delay(LOOK_MS);
    }
  }
}

/** The start time of a process; undefined when there is no such process, or it is a zombie. */
async function startOf(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? undefined : fields[START_FIELD];
}
