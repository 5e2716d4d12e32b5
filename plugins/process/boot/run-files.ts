// Two small files for health checks of the container: written on every change, never read by the host.
import path from 'node:path';
import type { Logger } from '#core';
import { writeFileAtomic } from '#kit/atomic-write';
import type { StartupReport } from '../contract.ts';

const DIRECTORY = '/healthcheck';

export class RunFiles {
  readonly #log: Logger;
  #usable = true;
  #writing: Promise<void> = Promise.resolve();

  constructor(log: Logger) {
    this.#log = log;
  }

  running(pids: Readonly<Record<string, number>>): void {
    this.#write('running_processes.json', pids);
  }

  startup({ phase, startedAt, completedAt, expectedServices, failures }: StartupReport): void {
    this.#write('startup_state.json', {
      phase,
      started_at: startedAt,
      completed_at: completedAt,
      expected_services: expectedServices,
      failures,
    });
  }

  #write(name: string, value: unknown): void {
    this.#writing = this.#writing.then(async () => {
      if (!this.#usable) return;
      try {
        await writeFileAtomic(path.join(DIRECTORY, name), JSON.stringify(value), { durable: false, mode: 0o644 });
      } catch (error) {
        this.#usable = false;
        // Only containers that ask for these files have the directory.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
        this.#log.warn(`${DIRECTORY} cannot be written; its files are not kept up`, error);
      }
    });
  }
}
