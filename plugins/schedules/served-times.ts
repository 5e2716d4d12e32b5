// The time up to which each schedule has been served. It is kept over restarts of the host, so that missed times are
// found.
import { z } from 'zod';
import type { Logger } from '#core';
import { isTemporary, PrivateDirectory } from '#kit/private-directory';

/** Name of the directory below the configuration directory. */
export const STATE_DIRECTORY = 'schedules';
const FILE = 'served.json';
const MAX_BYTES = 1_048_576;

/** Milliseconds since the epoch, by process name. */
const servedSchema = z.record(z.string(), z.number().nonnegative());

export class ServedTimes {
  readonly #configDir: string;
  readonly #log: Logger;
  readonly #times = new Map<string, number>();
  #last: Promise<void> = Promise.resolve();

  constructor(configDir: string, log: Logger) {
    this.#configDir = configDir;
    this.#log = log;
  }

  async load(): Promise<void> {
    const directory = await PrivateDirectory.open(this.#configDir, [STATE_DIRECTORY], { create: false });
    try {
      const bytes = await directory?.read(FILE, MAX_BYTES);
      if (bytes == null) return;
      const times = servedSchema.parse(JSON.parse(bytes.toString('utf8')));
      for (const [name, time] of Object.entries(times)) this.#times.set(name, time);
    } catch (error) {
      this.#log.warn(`${STATE_DIRECTORY}/${FILE} cannot be used; what schedules missed before is not known`, error);
    } finally {
      await directory?.close();
    }
  }

  of(processName: string): number | undefined {
    return this.#times.get(processName);
  }

  set(processName: string, time: number): void {
    this.#times.set(processName, time);
    this.#save();
  }

  /** Forgets all processes but those in `names`. */
  keep(names: ReadonlySet<string>): void {
    const others = [...this.#times.keys()].filter(name => !names.has(name));
    for (const name of others) this.#times.delete(name);
    if (others.length > 0) this.#save();
  }

  /** Resolves when all changes so far have been written. */
  saved(): Promise<void> {
    return this.#last;
  }

  #save(): void {
    this.#last = this.#last.then(async () => {
      try {
        const directory = await PrivateDirectory.open(this.#configDir, [STATE_DIRECTORY]);
        try {
          // Those of a host that was killed.
          for (const name of await directory.names()) if (isTemporary(name)) await directory.remove(name);
          await directory.replace(FILE, JSON.stringify(Object.fromEntries(this.#times)), { durable: false });
        } finally {
          await directory.close();
        }
      } catch (error) {
        this.#log.warn(`${STATE_DIRECTORY}/${FILE} cannot be written; a missed time may not be told`, error);
      }
    });
  }
}
