// What jobs that write leave when they are cut off: a child that has not ended yet, and a journal without its end.
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Host } from '#core';
import { orAborted } from '#kit/abort';
import type { SymlinkJob } from './symlink-job.ts';
import type { TaskProcesses } from './task-process.ts';

const LOOK_MS = 100;
/** Field of /proc/[pid]/stat behind the name, which may hold spaces: the start in clock ticks since the boot. */
const START_FIELD = 19;

/** A process by its pid and its start, which no other has. */
const childSchema = z.object({ pid: z.int(), start: z.string() });

export class Leftovers {
  readonly #host: Host;
  readonly #processes: TaskProcesses;
  readonly #mended: Promise<void>;
  #tellMended: () => void = () => undefined;
  isMended = false;

  constructor(host: Host, processes: TaskProcesses) {
    this.#host = host;
    this.#processes = processes;
    this.#mended = new Promise(resolve => {
      this.#tellMended = resolve;
    });
  }

  whenMended(signal: AbortSignal): Promise<void> {
    return orAborted(() => this.#mended, signal);
  }

  /** For the record of a job: its child. */
  async childOf(pid: number): Promise<z.output<typeof childSchema>> {
    return { pid, start: (await startOf(pid)) ?? '' };
  }

  /** Ends the children of these jobs and completes their journals. A failure is logged; the journals then stay. */
  async mend(jobs: readonly SymlinkJob[]): Promise<void> {
    for (const { checkpoint } of jobs) {
      const child = childSchema.safeParse(checkpoint);
      if (child.success) await this.#end(child.data);
    }
    for (const { id, input } of jobs) {
      try {
        await this.#processes.run({ task: 'recover', input: input.options, id, signal: this.#host.signal });
      } catch (error) {
        if (this.#host.signal.aborted) return;
        this.#host.log.error(`what ${input.operation} of ${input.processName} has left could not be mended`, error);
      }
    }
    this.isMended = true;
    this.#tellMended();
  }

  /** Waits until it has ended, for ever if it hangs in the kernel: it could go on writing. */
  async #end({ pid, start }: z.output<typeof childSchema>): Promise<void> {
    for (let told = false; (await startOf(pid)) === start && !this.#host.signal.aborted; told = true) {
      if (!told) this.#host.log.warn(`process ${pid} of an earlier symlink operation has not ended; it is killed`);
      process.kill(pid, 'SIGKILL');
      await delay(LOOK_MS);
    }
  }
}

/** undefined when there is no such process, or only what is left of it. */
async function startOf(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? undefined : fields[START_FIELD];
}
