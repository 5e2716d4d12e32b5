// A directory in which links are made, held open by a descriptor, so that another process cannot replace a part of its
// path meanwhile. All calls are synchronous, because they run in threads of the child.
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import path from 'node:path';
import { tellPlace } from '#kit/descriptor-path';
import { diskPath, joined, type RawPath } from './raw-path.ts';
import { temporaryName } from './temporary-name.ts';

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const PERMISSIONS = 0o7777;
/** The setgid bit: new entries of such a directory get its group. */
const SET_GROUP = 0o2000;
const [OWN_USER, OWN_GROUP] = [process.geteuid?.(), process.getegid?.()];
/** Errors of rmdir for a directory that is not empty, or on which something is mounted. */
const IN_USE = new Set(['ENOTEMPTY', 'EEXIST', 'EBUSY']);

/** A directory is on another file system than before. */
export class OtherFileSystem extends Error {}

export class HeldDirectory {
  readonly stats: Stats;
  readonly #descriptor: number;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
    this.stats = fstatSync(descriptor);
  }

  /**
   * Opens the directory at a real path. Throws an Error when the path leads elsewhere now, and an OtherFileSystem when
   * it is not on the file system with the number `device`.
   */
  static open(real: RawPath, device?: number): HeldDirectory {
    const descriptor = openSync(diskPath(real), FLAGS);
    try {
      if (readlinkSync(`/proc/self/fd/${descriptor}`, 'latin1') !== real)
        throw new Error('its path leads elsewhere than before');
      const directory = new HeldDirectory(descriptor);
      if (device !== undefined && directory.stats.dev !== device)
        throw new OtherFileSystem('its file system is another one than before');
      return directory;
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  /**
   * Opens the directory, or creates it and its missing parents. For each path that is created, `model` gives the real
   * directory whose owner and mode it gets. For `device` see `open`.
   */
  static make(real: RawPath, model: (real: RawPath) => RawPath, device?: number): HeldDirectory {
    try {
      return HeldDirectory.open(real, device);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    const parent = HeldDirectory.make(path.posix.dirname(real), model, device);
    try {
      parent.telling(() => parent.#makeDirectory(path.posix.basename(real), model(real)));
    } finally {
      parent.close();
    }
    return HeldDirectory.open(real);
  }

  /** What has this name in the directory; undefined for nothing. */
  entry(name: RawPath): Stats | undefined {
    return lstatSync(this.at(name), { throwIfNoEntry: false });
  }

  /** The target of a link; undefined when there is no link with this name. */
  target(name: RawPath): RawPath | undefined {
    return linkTarget(this.at(name));
  }

  /**
   * Puts a link in the place of an entry by renaming, so that readers see the old or the new one. Immediately before,
   * `isExpected` says whether the present entry may be replaced. Returns whether the link was put.
   */
  place(
    name: RawPath,
    target: RawPath,
    owner: Pick<Stats, 'uid' | 'gid'>,
    runId: string,
    isExpected: () => boolean,
  ): boolean {
    const temporary = temporaryName(runId);
    symlinkSync(diskPath(target), this.at(temporary));
    try {
      this.#give(temporary, owner);
      if (isExpected()) {
        renameSync(this.at(temporary), this.at(name));
        return true;
      }
    } catch (error) {
      unlinkSync(this.at(temporary));
      throw error;
    }
    unlinkSync(this.at(temporary));
    return false;
  }

  /** Keeps a file under a second name, or renames it where hard links are impossible. Throws when the name is taken. */
  keepAs(name: RawPath, kept: RawPath): void {
    try {
      linkSync(this.at(name), this.at(kept));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST' || this.entry(kept) !== undefined) throw error;
      renameSync(this.at(name), this.at(kept));
    }
  }

  /** Moves an entry to another directory of the same file system, where it replaces one of the same name. */
  moveTo(name: RawPath, to: HeldDirectory): void {
    renameSync(this.at(name), to.at(name));
  }

  remove(name: RawPath): void {
    unlinkSync(this.at(name));
  }

  /** Removes the directory itself, whose real path is `real`, if it is empty. Returns whether it is gone. */
  removeIfEmpty(real: RawPath): boolean {
    try {
      rmdirSync(this.at(`../${path.posix.basename(real)}`));
      return true;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (IN_USE.has(code)) return false;
      throw error;
    }
  }

  /** Runs `work`. Its errors name the path of the directory instead of that of the descriptor. */
  telling<Value>(work: () => Value): Value {
    try {
      return work();
    } catch (error) {
      return tellPlace(error);
    }
  }

  /** A path to a name in the directory that stays right when the directory is moved. Valid until `close`. */
  at(name: RawPath): string | Buffer {
    return diskPath(joined(`/proc/self/fd/${this.#descriptor}`, name));
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** Sets the owner of a new link. Ignores the error of a file system without owners if the owner is right already. */
  #give(name: RawPath, { uid, gid }: Pick<Stats, 'uid' | 'gid'>): void {
    const inheritsGroup = (this.stats.mode & SET_GROUP) !== 0;
    if (!inheritsGroup && uid === OWN_USER && gid === OWN_GROUP) return;
    try {
      lchownSync(this.at(name), uid, gid);
    } catch (error) {
      const made = lstatSync(this.at(name));
      if (made.uid !== uid || made.gid !== gid) throw error;
    }
  }

  #makeDirectory(name: RawPath, model: RawPath): void {
    const { uid, gid, mode } = lstatSync(diskPath(model));
    try {
      mkdirSync(this.at(name), { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
      throw error;
    }
    const descriptor = openSync(this.at(name), FLAGS);
    try {
      const made = `/proc/self/fd/${descriptor}/.`;
      const { uid: ownUid, gid: ownGid } = fstatSync(descriptor);
      if (uid !== ownUid || gid !== ownGid) chownSync(made, uid, gid);
      chmodSync(made, mode & PERMISSIONS);
    } finally {
      closeSync(descriptor);
    }
  }
}

/** The target of a link; undefined when there is no link at the place. */
export function linkTarget(place: string | Buffer): RawPath | undefined {
  try {
    return readlinkSync(place, 'latin1');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EINVAL') return undefined;
    throw error;
  }
}
