// Two small files for health checks of the container: written on every change, never read by the host.
import path from 'node:path';
import type { Logger } from '#core';
import { writeFileAtomic } from '#kit/atomic-write';
import { LaterWrite } from '#kit/later-write';
import type { StartupReport } from '../contract.ts';

const DIRECTORY = '/healthcheck';

export class RunFiles {
  readonly #log: Logger;
  readonly #directory: string;
  readonly #files = new Map<string, { readonly writes: LaterWrite; content: () => unknown }>();
  /** Only containers that ask for these files have the directory. */
  #isWanted = true;

  constructor(log: Logger, directory = DIRECTORY) {
    this.#log = log;
    this.#directory = directory;
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

  async close(): Promise<void> {
    await Promise.all([...this.#files.values()].map(({ writes }) => writes.close()));
  }

  /** Changes that come while a file is being written share the next writing. */
  #write(name: string, content: () => unknown): void {
    if (!this.#isWanted) return;
    const known = this.#files.get(name);
    if (known !== undefined) known.content = content;
    const { writes } = known ?? this.#add(name, content);
    void writes.save();
  }

  #add(name: string, content: () => unknown): { readonly writes: LaterWrite } {
    const place = path.join(this.#directory, name);
    const options = { durable: false, mode: 0o644, tidies: true };
    const writes = new LaterWrite({
      write: async () => {
        if (!this.#isWanted) return;
        const text = JSON.stringify(file.content());
        await writeFileAtomic(place, text, options).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') throw error;
          this.#isWanted = false;
        });
      },
      failed: error => this.#log.warn(`${place} cannot be written; what health checks read of it is old`, error),
      mended: () => this.#log.info(`${place} is written again`),
    });
    const file = { writes, content };
    this.#files.set(name, file);
    return file;
  }
}
