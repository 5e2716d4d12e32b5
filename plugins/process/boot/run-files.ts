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
  /** Files that are to be written next, with their latest content. */
  readonly #next = new Map<string, () => unknown>();

  constructor(log: Logger) {
    this.#log = log;
  }

  running(pids: () => Readonly<Record<string, number>>): void {
    this.#write('running_processes.json', pids);
  }

  startup({ phase, startedAt, completedAt, expectedServices, failures }: StartupReport): void {
    this.#write('startup_state.json', () => ({
      phase,
      started_at: startedAt,
      completed_at: completedAt,
      expected_services: expectedServices,
      failures,
    }));
  }

  /** Changes that come while a file is being written share the next writing. */
  #write(name: string, content: () => unknown): void {
    const isQueued = this.#next.has(name);
    this.#next.set(name, content);
    if (isQueued || !this.#usable) return;
    this.#writing = this.#writing.then(async () => {
      const latest = this.#next.get(name);
      this.#next.delete(name);
      if (!this.#usable) return;
      try {
        const text = JSON.stringify(latest?.());
        await writeFileAtomic(path.join(DIRECTORY, name), text, { durable: false, mode: 0o644 });
      } catch (error) {
        this.#usable = false;
        // Only containers that ask for these files have the directory.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
        this.#log.warn(`${DIRECTORY} cannot be written; its files are not kept up`, error);
      }
    });
  }
}
