// Databases that ended migrations have left in PostgreSQL, because the server did not run or did not answer then.
import { isActive } from './job.ts';
import { LiveJob } from './live-job.ts';
import { undoInServer } from './migration.ts';
import type { MigrationContext } from './migration-context.ts';

export class Leftovers {
  readonly #context: MigrationContext;
  #clearing: Promise<void> | undefined;

  constructor(context: MigrationContext) {
    this.#context = context;
  }

  /** Removes the databases if the server runs, and tells the log when it cannot. A call during another one joins it. */
  clear(): Promise<void> {
    const { log } = this.#context.host;
    this.#clearing ??= this.#clear()
      .catch((error: unknown) => log.warn('PostgreSQL could not be cleared of earlier migrations', error))
      .finally(() => {
        this.#clearing = undefined;
      });
    return this.#clearing;
  }

  async #clear(): Promise<void> {
    const { files, host, server } = this.#context;
    const due = files.list().filter(({ job, work }) => work.isUndoDue && !isActive(job));
    const name = server.managed.place()?.processName;
    if (due.length === 0 || name === undefined) return;
    if (host.use('process.supervisor').get(name)?.status !== 'running') return;
    await server.managed.ready({ signal: host.signal });
    for (const record of due) await undoInServer(this.#context, new LiveJob(record, files, host));
  }
}
