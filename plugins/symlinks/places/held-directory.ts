// A directory in which links are made, held by its descriptor, so that nobody can exchange a part of its path
// meanwhile. Everything is synchronous, for threads of the child.
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
/** What is made in a directory with this bit gets the directory's group. */
const SET_GROUP = 0o2000;
const [OWN_USER, OWN_GROUP] = [process.geteuid?.(), process.getegid?.()];
/** Something lies in the directory, or is mounted on it. */
const IN_USE = new Set(['ENOTEMPTY', 'EEXIST', 'EBUSY']);

/** The file system of a directory is another one now. */
export class OtherFileSystem extends Error {}

export class HeldDirectory {
  readonly stats: Stats;
  readonly #descriptor: number;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
    this.stats = fstatSync(descriptor);
  }

  /**
   * Throws an Error when the path, which is a real one, leads elsewhere now; an OtherFileSystem where it must be one of
   * the file system with the number `device` and is not.
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
   * Opens the directory, or makes it and what is missing above it. `model` gives for a path the real directory whose
   * owner and mode it gets; for `device` see `open`.
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

  /** undefined when there is nothing. */
  entry(name: RawPath): Stats | undefined {
    return lstatSync(this.at(name), { throwIfNoEntry: false });
  }

  /** The target of a link; undefined when there is none of that name. */
  target(name: RawPath): RawPath | undefined {
    return linkTarget(this.at(name));
  }

  /**
   * Puts a link there, in place of what `isExpected` accepts immediately before; readers see the old or the new one.
   * Returns whether it was put.
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

  /** Gives a file another name, and leaves it the old one where the file system can. Throws when the name is taken. */
  keepAs(name: RawPath, kept: RawPath): void {
    try {
      linkSync(this.at(name), this.at(kept));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST' || this.entry(kept) !== undefined) throw error;
      renameSync(this.at(name), this.at(kept));
    }
  }

  /** Moves an entry to another directory of the same file system, over what is there. */
  moveTo(name: RawPath, to: HeldDirectory): void {
    renameSync(this.at(name), to.at(name));
  }

  remove(name: RawPath): void {
    unlinkSync(this.at(name));
  }

  /** Removes the directory itself, whose real path is `real`, if nothing is in it. Returns whether it is gone. */
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

  /** What `work` gives, whose errors tell the directory's own path in place of that of its descriptor. */
  telling<Value>(work: () => Value): Value {
    try {
      return work();
    } catch (error) {
      return tellPlace(error);
    }
  }

  /** The path to a name in it that holds wherever the directory is moved. Valid until `close`. */
  at(name: RawPath): string | Buffer {
    return diskPath(joined(`/proc/self/fd/${this.#descriptor}`, name));
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** A file system that knows no owners says so, unless it made the link with the right one. */
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

/** The target of a link; undefined when there is none at the place. */
export function linkTarget(place: string | Buffer): RawPath | undefined {
  try {
    return readlinkSync(place, 'latin1');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EINVAL') return undefined;
    throw error;
  }
}
