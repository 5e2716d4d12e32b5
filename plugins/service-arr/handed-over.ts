// Digests of what was last sent to each application, which are needed because applications do not show stored secrets.
import { createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Logger } from '#core';
import { writeFileAtomic } from '#kit/atomic-write';
import { readPrivate } from '#kit/trust';
import { WorkQueue } from '#kit/work-queue';

const fileSchema = z.object({
  salt: z.string().describe('so that equal secrets of two machines do not look alike'),
  digests: z.record(z.string(), z.string()),
});

type Content = z.output<typeof fileSchema>;

export class HandedOver {
  readonly #file: string;
  readonly #log: Logger;
  readonly #writes = new WorkQueue({ concurrency: 1 });
  #content: Promise<Content> | undefined;

  constructor(file: string, log: Logger) {
    this.#file = file;
    this.#log = log;
  }

  /** Whether `value` equals what was last sent under these names; undefined when nothing was sent. */
  async matches(names: readonly string[], value: unknown): Promise<boolean | undefined> {
    const content = await this.#read();
    const known = content.digests[JSON.stringify(names)];
    return known === undefined ? undefined : known === digestOf(value, content);
  }

  async note(names: readonly string[], value: unknown): Promise<void> {
    if ((await this.matches(names, value)) === true) return;
    const content = await this.#read();
    content.digests[JSON.stringify(names)] = digestOf(value, content);
    await this.#writes.add(() => this.#save(content));
  }

  /** A failure is only a warning, because it must not make a start fail. */
  async #save(content: Content): Promise<void> {
    try {
      await writeFileAtomic(this.#file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, tidies: true });
    } catch (error) {
      this.#log.warn(`${this.#file} cannot be written; what was handed over is known until the next start`, error);
    }
  }

  #read(): Promise<Content> {
    this.#content ??= this.#load();
    return this.#content;
  }

  /** Empty when the file is missing or unreadable, as if nothing had been sent. */
  async #load(): Promise<Content> {
    try {
      return fileSchema.parse(JSON.parse(await readPrivate(this.#file)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.#log.warn(
          `${this.#file} cannot be read; a secret that was changed is handed over at its next change`,
          error,
        );
      return { salt: randomBytes(16).toString('hex'), digests: {} };
    }
  }
}

function digestOf(value: unknown, { salt }: Content): string {
  return createHmac('sha256', salt).update(JSON.stringify(value)).digest('hex');
}
