// The folder of a program: the present release, the previous one, and drafts. All are on one file system, so that a
// release is put in place by renaming. The files belong to the user of the service, so the host follows no paths in the
// folder but only open directories, and leaves all work on files to child processes of that user.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Logger, Problem } from '#core';
import { writeFileIn } from '#kit/atomic-write';
import { endBuild } from '#kit/build-environment';
import { runInDirectories } from '#kit/directory-command';
import { errorText } from '#kit/error-text';
import { syncFileSystem } from '#kit/file-system-sync';
import { GuardedDirectory } from '#kit/guarded-directory';
import { readMounts } from '#kit/mountinfo';
import { isBelow } from '#kit/path-below';
import { reachOf } from '#kit/service-user';
import { isSystemPath, realPlaceOf } from '#kit/system-paths';
import type { InstallUser } from './contract.ts';
import { diskFault } from './disk-space.ts';
import type { FolderRecord, FolderRecords, Release, Swap } from './folder-records.ts';
import { carryOut, isHopeless, isThere, type KeptPlaces, planSwap, undo, WORK, within } from './swap.ts';

const FILES = 'files';
const DOWNLOADS = 'downloads';
const CACHES = 'caches';
const REMOVE_TRIES = 5;
const REMOVE_PAUSE_MS = 500;

export interface ReleaseFolderOptions {
  readonly directory: string;
  readonly records: FolderRecords;
  readonly log: Logger;
}

/** A release that is being prepared. Its paths are absolute, except for the name `part`. */
export interface Draft {
  readonly files: string;
  readonly downloads: string;
  readonly caches: string;
  /** The name of its directory in the work directory. */
  readonly part: string;
}

export class ReleaseFolder {
  readonly #options: ReleaseFolderOptions;
  /** Names in the work directory that drafts use at present. */
  readonly #drafts = new Set<string>();
  /** All drafts of this run of the host, whose builds end when their requests do. */
  readonly #begun = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();
  #cleaning: Promise<void> = Promise.resolve();
  #hasEnded = false;

  constructor(options: ReleaseFolderOptions) {
    this.#options = options;
  }

  get record(): FolderRecord {
    return this.#options.records.of(this.#options.directory);
  }

  /**
   * Begins a draft. `isGiven` allows a folder within a directory of the system, because no option of a user names it.
   * Throws a Problem that says what to do when nothing can be created in the folder.
   */
  async begin(user: InstallUser, isGiven: boolean): Promise<Draft> {
    const { directory, records } = this.#options;
    if (!isGiven && isSystemPath(await realPlaceOf(path.normalize(directory))))
      throw new Problem(400, `${directory} lies in a directory of the system; choose another`);
    const part = nameOf('draft');
    this.#begun.add(part);
    this.#drafts.add(part);
    const folder = await GuardedDirectory.open(directory, { owner: user });
    try {
      // Saved first, so that a later start finds what a crash leaves behind.
      await this.#alone(() => records.save({ ...this.record, user }));
      const making = { mode: 0o755, owner: user };
      for (const name of [FILES, DOWNLOADS, CACHES])
        await within(folder, `${WORK}/${part}/${name}/`, () => undefined, making);
      const place = path.join(folder.path, WORK, part);
      const [reach] = await reachOf([{ place, use: 'enter' }], user ?? undefined);
      if (typeof reach === 'object')
        throw new Problem(
          403,
          `user ${user?.uid} cannot pass ${reach.closed}, below which its programs are to be installed; let that user pass (chmod o+x), or choose another folder`,
        );
      const [files, downloads, caches] = [FILES, DOWNLOADS, CACHES].map(name => path.join(place, name)) as [
        string,
        string,
        string,
      ];
      return { part, files, downloads, caches };
    } catch (error) {
      await this.#drop(part);
      throw diskFault(directory, error) ?? error;
    } finally {
      folder.close();
    }
  }

  /** Writes small texts into a release. */
  async write({ part }: Draft, files: Readonly<Record<string, string>>): Promise<void> {
    const { user: owner } = this.record;
    const how = { mode: 0o644, owner, durable: false };
    await this.#use(async folder => {
      for (const [file, text] of Object.entries(files)) {
        const place = path.join(WORK, part, FILES, path.join('/', file));
        await within(folder, place, (parent, name) => writeFileIn(parent, name, Buffer.from(text), how), { owner });
      }
    });
  }

  /** Removes the downloads of a draft. */
  async removeDownloads({ part }: Draft): Promise<void> {
    await this.#use(folder => this.#removeIn(folder, path.join(WORK, part), DOWNLOADS));
  }

  /** Of these paths below the folder, those that would be missing after the swap. */
  async missing({ part }: Draft, places: readonly string[], { keeps }: KeptPlaces): Promise<string[]> {
    return this.#use(async folder => {
      const found = await Promise.all(
        places.map(async place => {
          if (await isThere(folder, path.join(WORK, part, FILES, place))) return [];
          const isKept = [...keeps].some(kept => place === kept || place.startsWith(`${kept}/`));
          return isKept && (await isThere(folder, place)) ? [] : [place];
        }),
      );
      return found.flat();
    });
  }

  /** Throws a Problem 409 when the release conflicts with places that are kept. */
  async checkPlace({ part }: Draft, kept: KeptPlaces): Promise<void> {
    await this.#use(folder => planSwap(folder, path.join(part, FILES), kept));
  }

  /**
   * Resolves when the release would survive a loss of power. If it were renamed before, its files could be empty after
   * one and would still count as installed.
   */
  async secure({ part }: Draft, signal: AbortSignal): Promise<void> {
    const { user } = this.record;
    await this.#use(folder =>
      within(folder, `${path.join(WORK, part, FILES)}/`, files => syncFileSystem(files, { user, signal })),
    );
  }

  /** Puts a release in the place of the present one, which becomes the previous one. */
  swap({ part }: Draft, release: Release, kept: KeptPlaces, present: Release | null): Promise<void> {
    return this.#alone(async folder => {
      const { record } = this;
      const keeps = new Set([...kept.keeps, ...(await mountsIn(folder))]);
      const incoming = path.join(part, FILES);
      const { outs, ins } = await planSwap(folder, incoming, { ...kept, keeps });
      const outgoing = nameOf('release');
      const left = record.installed ?? present ?? { version: null, installedAt: null };
      const previous = outs.length === 0 ? null : { ...left, kept: { part: outgoing, outs, ins } };
      const swap = { incoming, outgoing, outs, ins, installed: release, previous };
      await this.#complete(folder, { ...record, swap });
      this.#drafts.delete(part);
      this.clean();
    });
  }

  /** Reverts the last swap. Throws a Problem 409 when no previous release is kept. */
  restore(): Promise<void> {
    return this.#alone(async folder => {
      const { record } = this;
      const { previous } = record;
      if (previous === null || previous.kept === null)
        throw new Problem(
          409,
          `no release before the present one is kept in ${record.directory}; install one by its number`,
        );
      const { version, installedAt } = previous;
      const { part, outs, ins } = previous.kept;
      if (!(await isThere(folder, path.join(WORK, part))))
        throw new Problem(
          409,
          `the release before the present one is gone from ${path.join(record.directory, WORK, part)}; install one by its number`,
        );
      const outgoing = nameOf('release');
      const installed = { version, installedAt };
      const swap = { incoming: part, outgoing, outs: ins, ins: outs, installed, previous: null };
      await this.#complete(folder, { ...record, swap });
      this.clean();
    });
  }

  /** Removes a draft. Never rejects. */
  discard({ part }: Draft): Promise<void> {
    return this.#drop(part);
  }

  /** Completes an interrupted swap, or reverts it when the incoming release is gone. null when there was none. */
  async recover(): Promise<'complete' | 'taken back' | null> {
    const { swap } = this.record;
    if (swap === null) return null;
    // `#alone` itself completes an interrupted swap.
    await this.#alone(async () => undefined);
    return this.record.installed === swap.installed ? 'complete' : 'taken back';
  }

  /** Removes, in the background, everything in the work directory that neither the record nor a draft needs. */
  clean(): void {
    if (this.#hasEnded) return;
    this.#cleaning = this.#cleaning
      .then(() => this.#use(folder => this.#clean(folder)))
      .catch((error: NodeJS.ErrnoException) => {
        const place = path.join(this.#options.directory, WORK);
        if (error.code !== 'ENOENT') this.#options.log.warn(`what is not needed in ${place} stays`, error);
      });
  }

  /** Resolves when the removal in the background is over. */
  cleaned(): Promise<void> {
    return this.#cleaning;
  }

  /** Resolves when nothing is changed in the folder any more; nothing will be afterwards. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#turn;
    await this.cleaned();
  }

  async #clean(folder: GuardedDirectory): Promise<void> {
    const faults: unknown[] = [];
    // A build that was ended may have made its folder again: a process amid its exec cannot be told from others.
    for (let tries = 1; (await this.#removeUnneeded(folder, faults)) && tries < REMOVE_TRIES; tries += 1);
    // Thrown at the end, so that one failure does not keep the rest from being removed.
    const [first] = faults;
    if (first !== undefined) throw first;
  }

  /** Whether there was a folder of a killed host's build. */
  async #removeUnneeded(folder: GuardedDirectory, faults: unknown[]): Promise<boolean> {
    let wasBuilding = false;
    for (const name of await within(folder, `${WORK}/`, work => work.names())) {
      const { previous, swap } = this.record;
      const needed = [previous?.kept?.part, swap?.outgoing, swap?.incoming.split('/')[0]];
      if (needed.includes(name) || this.#drafts.has(name)) continue;
      // The build of a host that was killed may still run.
      if (name.startsWith('draft-') && !this.#begun.has(name)) {
        endBuild(path.join(folder.path, WORK, name, FILES));
        wasBuilding = true;
      }
      // Renamed first, because a process of an earlier host may still write there by the path.
      const gone = nameOf('gone');
      await within(folder, `${WORK}/`, work => work.rename(name, gone));
      await this.#removeIn(folder, WORK, gone).catch(fault => faults.push(fault));
    }
    return wasBuilding;
  }

  /** Carries out the swap of a record, from wherever it was interrupted. Reverts it when a step fails. */
  async #complete(folder: GuardedDirectory, record: FolderRecord): Promise<void> {
    const { records } = this.#options;
    const { swap, user } = record;
    if (swap === null) return;
    if (record !== this.record) await records.save(record);
    const old = { ...record, swap: null };
    if (await isHopeless(folder, swap)) {
      await undo(folder, swap, user);
      return records.settle(old);
    }
    try {
      await carryOut(folder, swap, user);
    } catch (error) {
      await undo(folder, swap, user).catch(fault => {
        throw new AggregateError([error, fault], errorText(error), { cause: fault });
      });
      await this.#giveUp(folder, swap);
      await records.settle(old);
      throw error;
    }
    await records.settle({ ...old, installed: swap.installed, previous: swap.previous });
  }

  /** Renames the draft of a failed swap, so that a later start does not repeat a swap whose record is still there. */
  async #giveUp(folder: GuardedDirectory, { incoming }: Swap): Promise<void> {
    const [part = ''] = incoming.split('/');
    if (!part.startsWith('draft-')) return;
    await within(folder, `${WORK}/`, work => work.rename(part, nameOf('gone'))).catch(error =>
      this.#options.log.warn(`what was to be installed in ${this.#options.directory} stays`, error),
    );
  }

  #drop(part: string): Promise<void> {
    this.#drafts.delete(part);
    this.clean();
    return this.#cleaning;
  }

  /** Removes a directory as the user to whom it belongs, because that user may have put links into it. */
  async #removeIn(folder: GuardedDirectory, place: string, name: string): Promise<void> {
    const { user } = this.record;
    await within(folder, path.join(place, name), async directory => {
      const args = ['-rf', '--one-file-system', '--', `/proc/self/fd/3/${name}`];
      for (let tries = 1; ; tries += 1) {
        try {
          return await runInDirectories('rm', args, { directories: [directory], user });
        } catch (error) {
          // A process may have written into the directory meanwhile.
          if (tries === REMOVE_TRIES) throw error;
          await delay(REMOVE_PAUSE_MS);
        }
      }
    });
  }

  /** Runs works on the folder one after the other, and completes an interrupted swap before each. */
  async #alone<Value>(work: (folder: GuardedDirectory) => Promise<Value>): Promise<Value> {
    if (this.#hasEnded)
      throw new Problem(
        503,
        `what installs in ${this.#options.directory} was loaded anew; start the installation again`,
      );
    const done = this.#turn.then(() =>
      this.#use(async folder => {
        await this.#complete(folder, this.record);
        return work(folder);
      }),
    );
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #use<Value>(work: (folder: GuardedDirectory) => Promise<Value>): Promise<Value> {
    const folder = await GuardedDirectory.open(this.#options.directory);
    try {
      return await work(folder);
    } catch (error) {
      throw diskFault(this.#options.directory, error) ?? error;
    } finally {
      folder.close();
    }
  }
}

function nameOf(kind: 'draft' | 'release' | 'gone'): string {
  return `${kind}-${randomBytes(4).toString('hex')}`;
}

/** The mount points in the folder, which cannot be renamed. */
async function mountsIn({ path: place }: GuardedDirectory): Promise<string[]> {
  const mounts = await readMounts();
  return mounts
    .filter(({ directory }) => isBelow(directory, place))
    .map(({ directory }) => path.relative(place, directory));
}
