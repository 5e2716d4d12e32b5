// The file of the state, which is loaded once, changed in memory and written as a whole. A file that cannot be parsed
// is renamed, never overwritten.
import { createHash } from 'node:crypto';
import { rename } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '#core';
import { writeFileIn } from '#kit/atomic-write';
import { errorText } from '#kit/error-text';
import { GuardedDirectory } from '#kit/guarded-directory';
import { readPrivate } from '#kit/trust';
import { WorkQueue } from '#kit/work-queue';
import { forEachInSlices } from './slices.ts';
import { emptyState, type State, stateFrom } from './state.ts';
import { stateContent, stateText } from './state-text.ts';

const FILE_MODE = 0o600;
/** How long a change may be only in memory while others follow. */
const SAVE_MS = 2_000;
/** How long the time of the last cycle may be only in memory when nothing else has changed. */
const SAVE_TIME_MS = 10 * 60_000;

export class StateFile {
  readonly #file: string;
  readonly #log: Logger;
  readonly #writes = new WorkQueue({ concurrency: 1 });
  #state: State | undefined;
  #loading: Promise<State> | undefined;
  #saving: Promise<void> | undefined;
  #isSaved = false;
  #isDirty = false;
  #isFailing = false;
  #savedAtMs = 0;
  /** The digest of the content of the file without the time of the last cycle. */
  #savedDigest = '';

  constructor(file: string, log: Logger) {
    this.#file = file;
    this.#log = log;
  }

  /** Whether a state is on the disk, be it loaded or saved. */
  get isSaved(): boolean {
    return this.#isSaved;
  }

  /** The state. A caller that changes it must call `changed` or `save`. Rejects while its file is not trusted. */
  load(): Promise<State> {
    if (this.#state !== undefined) return Promise.resolve(this.#state);
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** Notes a change; saves when the last save is long enough ago, or has failed. */
  async changed(): Promise<void> {
    this.#isDirty = true;
    if (!this.#isFailing && performance.now() - this.#savedAtMs < SAVE_MS) return;
    this.#saving ??= this.save().finally(() => {
      this.#saving = undefined;
    });
    await this.#saving;
  }

  /** Writes the file. Rejects with an Error that names the file when that fails; the old file then stays. */
  save(): Promise<void> {
    return this.#save(() => true);
  }

  /** Like `save`, but mostly spares the file, which may have megabytes, when only the time of the cycle has changed. */
  async saveCycle(): Promise<void> {
    const isTimeDue = this.#isFailing || performance.now() - this.#savedAtMs >= SAVE_TIME_MS;
    await this.#save(digest => isTimeDue || digest !== this.#savedDigest);
  }

  async #save(isDue: (digest: string) => boolean): Promise<void> {
    await this.#writes.add(async () => {
      if (this.#state === undefined) return;
      // Reset here, because later changes may not be in the text.
      this.#isDirty = false;
      const { bytes, digest } = await fileOf(this.#state);
      if (!isDue(digest)) {
        this.#isDirty = true;
        return;
      }
      try {
        await this.#write(bytes);
        this.#isSaved = true;
        this.#savedDigest = digest;
        this.#isFailing = false;
      } catch (error) {
        this.#isDirty = true;
        this.#isFailing = true;
        throw new Error(`${this.#file} cannot be written: ${errorText(error)}`, { cause: error });
      } finally {
        this.#savedAtMs = performance.now();
      }
    });
  }

  async saveRest(): Promise<void> {
    if (this.#isDirty) await this.save();
  }

  async #load(): Promise<State> {
    const state = (await this.#read(this.#file)) ?? (await this.#read(this.#backup));
    this.#isSaved = state !== undefined;
    this.#state = state ?? emptyState();
    return this.#state;
  }

  get #backup(): string {
    return `${this.#file}.bak`;
  }

  /** undefined when the file is missing, or cannot be parsed; it is then renamed. */
  async #read(file: string): Promise<State | undefined> {
    let text: string;
    try {
      text = await readPrivate(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    try {
      return await stateFrom(await stateContent(text));
    } catch (error) {
      const aside = `${file}.corrupt-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
      await rename(file, aside);
      this.#log.warn(`${file} cannot be read and is kept as ${aside}: ${errorText(error)}`);
      return undefined;
    }
  }

  async #write(bytes: Buffer): Promise<void> {
    await GuardedDirectory.at(this.#file, async (directory, name) => {
      const next = `${name}.new`;
      // An interrupted write has left it.
      await directory.remove(next);
      await writeFileIn(directory, next, bytes, { mode: FILE_MODE, tidies: true });
      if ((await directory.stat(name)) !== null) await keepBefore(directory, name, path.basename(this.#backup));
      await directory.rename(next, name);
      await directory.sync();
    });
  }
}

/** Keeps the old file as a hard link, so that a state is under its name at every moment, also for backups. */
async function keepBefore(directory: GuardedDirectory, name: string, backup: string): Promise<void> {
  await directory.remove(backup);
  // FAT and some network file systems have no hard links.
  await directory.linkFile(name, backup).catch(() => directory.rename(name, backup));
}

/** `digest` is the same for states that differ only in the time of the last cycle. */
async function fileOf(state: State): Promise<{ readonly bytes: Buffer; readonly digest: string }> {
  const pieces: Buffer[] = [];
  await forEachInSlices(stateText(state), piece => pieces.push(Buffer.from(piece)));
  const [, ...entries] = pieces;
  const hash = createHash('sha256').update(JSON.stringify([state.meta, state.others]));
  await forEachInSlices(entries, piece => hash.update(piece));
  return { bytes: Buffer.concat(pieces), digest: hash.digest('hex') };
}
