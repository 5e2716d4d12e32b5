// A directory that others may write to, held by its descriptor: no link that they could have made is followed on the
// way to it or in it, only regular files are opened, and no opening waits for another program.
import {
  closeSync,
  constants,
  fstatSync,
  fstat as fstatWithCallback,
  openSync,
  open as openWithCallback,
  type Stats,
  writeSync,
} from 'node:fs';
import {
  chmod,
  chown,
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rm,
  rmdir,
  symlink,
} from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Problem } from '../contract/problem.ts';
import { requireAnswer } from './answering.ts';
import { pathOf, placeOf, tellPlace, within, withPlaces } from './descriptor-path.ts';
import { otherMountPoints } from './local-place.ts';
import { distrustOf } from './trust.ts';

export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** How missing directories are made. */
export interface Making {
  /** Permission bits, whatever the umask. Without it 0755 less the umask. */
  readonly mode?: number;
  /** The user to whom a host that is root gives each directory that is made; null keeps it the host's. */
  readonly owner?: FileOwner | null;
}

/**
 * `read`, `update` (reads and writes) and `extend` (appends) need an existing file; `create` needs a free name;
 * `append` and `keep` (reads and writes) open the existing file or create one.
 */
export type FileUse = 'read' | 'update' | 'extend' | 'append' | 'create' | 'keep';

/**
 * O_PATH of Linux with two more flags: a directory is held and not read, so the right to pass through it is enough.
 */
const HOLD = 0o10000000 | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const SAFE = constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const FLAGS: Readonly<Record<FileUse, number>> = {
  read: SAFE | constants.O_RDONLY,
  update: SAFE | constants.O_RDWR,
  extend: SAFE | constants.O_WRONLY | constants.O_APPEND,
  append: SAFE | constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT,
  keep: SAFE | constants.O_RDWR | constants.O_CREAT,
  create: SAFE | constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL,
};
/** Gives a bare descriptor, which can be closed synchronously: closing one of O_PATH never waits for a disk. */
const openDescriptor = promisify(openWithCallback);
const fstat = promisify(fstatWithCallback) as (descriptor: number) => Promise<Stats>;
const MAX_LINKS = 40;
/** The sticky bit, which marks a new directory until it has its final mode and owner. */
const JUST_MADE = 0o1000;
const PERMISSIONS = 0o6777;
/**
 * The codes with which `open` fails for links, for sockets and FIFOs without a reader, and for directories to be
 * written.
 */
const IRREGULAR = ['ELOOP', 'ENXIO', 'EISDIR'];

export class GuardedDirectory {
  /** The real path at the time of the opening. */
  readonly path: string;
  readonly #descriptor: number;

  private constructor(descriptor: number) {
    this.path = placeOf(descriptor);
    this.#descriptor = descriptor;
  }

  /** For a child that inherits it and works in the directory as `/proc/self/fd/<number>`. Valid until `close`. */
  get descriptor(): number {
    return this.#descriptor;
  }

  /**
   * Missing parts are made when `making` is given. A link is followed where only root and the host's user can write;
   * elsewhere it is a Problem 409 that says which part it is and what to do. Throws a Problem 503 for a mount on the
   * way that does not answer.
   */
  static async open(directory: string, making?: Making): Promise<GuardedDirectory> {
    return new GuardedDirectory((await walk(path.resolve(directory), 'directory', making)).descriptor);
  }

  /** Same as `open` for the point of a mount that may be dead: the mount is held and never read. */
  static async openMountPoint(directory: string): Promise<GuardedDirectory> {
    return new GuardedDirectory((await walk(path.resolve(directory), 'mount', undefined)).descriptor);
  }

  /**
   * Calls `use` with the directory that holds the file, and the file's name in it. `file` itself may be a link where
   * `open` would follow one. The directory is closed afterwards.
   */
  static async at<Value>(
    file: string,
    use: (directory: GuardedDirectory, name: string) => Value | Promise<Value>,
    making?: Making,
  ): Promise<Value> {
    const { descriptor, last } = await walk(path.resolve(file), 'file', making);
    const directory = new GuardedDirectory(descriptor);
    try {
      return await use(directory, last);
    } finally {
      directory.close();
    }
  }

  /** Removes a file; nothing happens when it, or a directory on the way to it, is missing. */
  static async remove(file: string): Promise<void> {
    await GuardedDirectory.at(file, (directory, name) => directory.remove(name)).catch(ignore('ENOENT'));
  }

  /** Opens a directory in this one, or makes it when `making` is given. A link is a Problem 409. */
  async enter(name: string, making?: Making): Promise<GuardedDirectory> {
    const step = await enter(this.#descriptor, checkedName(name), making);
    if ('link' in step) throw new Problem(409, `${this.#fileOf(name)} is a link; remove it`);
    return new GuardedDirectory(step.entered);
  }

  /** Whether the directory still exists where it was opened. Asks no disk. */
  isInPlace(): boolean {
    return placeOf(this.#descriptor) === this.path;
  }

  names(): Promise<string[]> {
    return readdir(within(this.#descriptor, '.')).catch(tellPlace);
  }

  /** What the name stands for, without following a link; null when there is nothing. */
  async stat(name: string): Promise<Stats | null> {
    return (await lstat(this.#inside(name)).catch(ignore('ENOENT')).catch(tellPlace)) ?? null;
  }

  /**
   * Opens a regular file. Throws a Problem 409 for anything else, and for a file with a second hard link that may lie
   * where others cannot write. `mode` is for a file that is created.
   */
  async openFile(name: string, use: FileUse, mode = 0o640): Promise<FileHandle> {
    const handle = await open(this.#inside(name), FLAGS[use], mode).catch((error: NodeJS.ErrnoException) => {
      if (IRREGULAR.includes(error.code ?? '')) throw this.#irregular(name, withPlaces(error));
      return tellPlace(error);
    });
    try {
      const entry = await handle.stat();
      if (!entry.isFile()) throw this.#irregular(name);
      if (entry.nlink > 1) this.#checkSecondName(name, entry, await fstat(this.#descriptor));
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Appends synchronously, for a process that is about to end. */
  appendNow(name: string, data: string): void {
    const descriptor = openSync(this.#inside(name), FLAGS.append, 0o640);
    try {
      const entry = fstatSync(descriptor);
      if (!entry.isFile()) throw this.#irregular(name);
      if (entry.nlink > 1) this.#checkSecondName(name, entry, fstatSync(this.#descriptor));
      writeSync(descriptor, data);
    } finally {
      closeSync(descriptor);
    }
  }

  /** null when there is no such file. Throws a Problem 409 when it is larger than `maxBytes`. */
  async read(name: string, maxBytes: number): Promise<Buffer | null> {
    const handle = await this.openFile(name, 'read').catch(ignore('ENOENT'));
    if (handle === undefined) return null;
    try {
      const { size } = await handle.stat();
      if (size > maxBytes) throw new Problem(409, `${this.#fileOf(name)} is larger than ${maxBytes} bytes; shorten it`);
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  }

  /** Renames within the directory. */
  rename(from: string, to: string): Promise<void> {
    return rename(this.#inside(from), this.#inside(to)).catch(tellPlace);
  }

  /** Moves what the name stands for into another directory of the same file system. */
  move(name: string, to: GuardedDirectory, newName: string): Promise<void> {
    return rename(this.#inside(name), to.#inside(newName)).catch(tellPlace);
  }

  /** Removes a file or a link; nothing happens when there is none. */
  async remove(name: string): Promise<void> {
    await rm(this.#inside(name), { force: true }).catch(tellPlace);
  }

  /** Removes an empty directory. */
  async removeDirectory(name: string): Promise<void> {
    await rmdir(this.#inside(name)).catch(tellPlace);
  }

  /** Gives a file a second name; where the file system knows none, rejects with EPERM or the like. */
  async linkFile(name: string, newName: string): Promise<void> {
    await link(this.#inside(name), this.#inside(newName)).catch(tellPlace);
  }

  /** Makes a link to `target`, which is not looked at. */
  async link(name: string, target: string): Promise<void> {
    await symlink(target, this.#inside(name)).catch(tellPlace);
  }

  /** Gives the directory to its owner if it is root's alone; whether it was given. */
  async give({ uid, gid }: FileOwner): Promise<boolean> {
    const entry = await fstat(this.#descriptor);
    if (process.geteuid?.() !== 0 || entry.uid !== 0 || distrustOf(entry) !== null) return false;
    await chown(within(this.#descriptor, '.'), uid, gid).catch(tellPlace);
    return true;
  }

  /** Lets the names of the directory survive a loss of power. */
  async sync(): Promise<void> {
    const flags = constants.O_RDONLY | constants.O_DIRECTORY;
    const handle = await open(within(this.#descriptor, '.'), flags).catch(tellPlace);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #inside(name: string): string {
    return within(this.#descriptor, checkedName(name));
  }

  #fileOf(name: string): string {
    return path.join(this.path, name);
  }

  #checkSecondName(name: string, file: Stats, directory: Stats): void {
    if (distrustOf(directory) === null) return;
    // A user who owns both the directory and the file gains nothing by a second name.
    if (file.uid === directory.uid && !isOwn(file.uid)) return;
    throw new Problem(409, `${this.#fileOf(name)} has a second hard link elsewhere; replace it by a copy`);
  }

  #irregular(name: string, cause?: unknown): Problem {
    return new Problem(409, `${this.#fileOf(name)} is no regular file; remove it`, { cause });
  }
}

/**
 * Gives an open file to its owner if the host is root; whether it has another owner now. A file with a second hard link
 * keeps its owner, and so does one of root unless `isNew` says that the host has just made it.
 */
export async function giveFile(handle: FileHandle, owner: FileOwner | null, { isNew = false } = {}): Promise<boolean> {
  if (owner === null || process.geteuid?.() !== 0) return false;
  const entry = await handle.stat();
  if (!entry.isFile() || entry.nlink !== 1 || (entry.uid === owner.uid && entry.gid === owner.gid)) return false;
  if (!isNew && isOwn(entry.uid)) return false;
  await handle.chown(owner.uid, owner.gid);
  return true;
}

/**
 * Holds each part of a path by its descriptor; for a file, all parts but the last. Each mount on the way must answer
 * first.
 */
async function walk(
  target: string,
  kind: 'directory' | 'mount' | 'file',
  making: Making | undefined,
): Promise<{ descriptor: number; last: string }> {
  const held: Held = { descriptor: await openDescriptor('/', HOLD), place: '/' };
  try {
    const last = await follow(held, target, kind, making);
    return { descriptor: held.descriptor, last };
  } catch (error) {
    withPlaces(error);
    closeSync(held.descriptor);
    throw error;
  }
}

/** The directory that a walk has reached. */
interface Held {
  descriptor: number;
  place: string;
}

function moveTo(held: Held, descriptor: number, place: string): void {
  closeSync(held.descriptor);
  held.descriptor = descriptor;
  held.place = place;
}

/** Moves along the path, as far as `walk` goes, and returns the part that is left. */
async function follow(
  held: Held,
  target: string,
  kind: 'directory' | 'mount' | 'file',
  making: Making | undefined,
): Promise<string> {
  const others = await otherMountPoints();
  let rest = partsOf(target);
  for (let links = 0; links <= MAX_LINKS; ) {
    const [part, ...next] = rest;
    if (part === undefined) return '.';
    const inside = path.join(held.place, part);
    const mayBeDead = kind === 'mount' && next.length === 0;
    if (others.has(inside) && !mayBeDead) await requireAnswer([path.join(inside, ...next)]);
    const isLast = kind === 'file' && next.length === 0;
    const step = await stepInto(held.descriptor, part, isLast, making);
    if (step === undefined) return part;
    if ('entered' in step) {
      moveTo(held, step.entered, inside);
      rest = next;
      continue;
    }
    links += 1;
    rest = [...partsOf(step.link), ...next];
    if (path.isAbsolute(step.link)) moveTo(held, await openDescriptor('/', HOLD), '/');
  }
  throw new Problem(409, `${target} leads through too many links; remove some`);
}

/** Enters a directory or reads a link; undefined for the last part of a path, unless it is a link to follow. */
function stepInto(
  descriptor: number,
  part: string,
  isLast: boolean,
  making: Making | undefined,
): Promise<{ entered: number } | { link: string } | undefined> {
  return isLast ? trustedLink(descriptor, part) : enter(descriptor, part, making);
}

async function trustedLink(descriptor: number, name: string): Promise<{ link: string } | undefined> {
  return (await isTrustedLink(descriptor, name)) ? { link: await readlink(within(descriptor, name)) } : undefined;
}

/** The descriptor of a directory in another, or the target of a link that may be followed instead. */
async function enter(
  descriptor: number,
  name: string,
  making: Making | undefined,
): Promise<{ entered: number } | { link: string }> {
  const inside = within(descriptor, name);
  try {
    const entered = await openDescriptor(inside, HOLD);
    try {
      if (making !== undefined) await finishLeft(entered, making);
    } catch (error) {
      closeSync(entered);
      throw error;
    }
    return { entered };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && making !== undefined) {
      await makeWithin(descriptor, name, making).catch(tellPlace);
      return { entered: await openDescriptor(inside, HOLD).catch(tellPlace) };
    }
    if (code !== 'ENOTDIR') return tellPlace(error);
    const link = await trustedLink(descriptor, name);
    if (link !== undefined) return link;
    const directory = placeOf(descriptor);
    throw new Problem(
      409,
      `${path.join(directory, name)} is a file, or a link that others may have made, so it is not followed; ` +
        `use the path it leads to, or let nobody else write to ${directory}`,
      { cause: withPlaces(error) },
    );
  }
}

/** Whether the name is a link that nobody but root and the host's user could have made. */
async function isTrustedLink(descriptor: number, name: string): Promise<boolean> {
  const entry = await lstat(within(descriptor, name)).catch(ignore('ENOENT'));
  return entry?.isSymbolicLink() === true && distrustOf(await fstat(descriptor)) === null;
}

async function makeWithin(descriptor: number, name: string, { mode, owner = null }: Making): Promise<void> {
  const given = process.geteuid?.() === 0 ? owner : null;
  const isDone = mode === undefined && given === null;
  const made = await mkdir(within(descriptor, name), { mode: (mode ?? 0o755) | (isDone ? 0 : JUST_MADE) }).then(
    () => true,
    ignore('EEXIST'),
  );
  if (made !== true || isDone) return;
  const own = await openDescriptor(within(descriptor, name), HOLD);
  try {
    const entry = await fstat(own);
    if (!isOwn(entry.uid)) return;
    // Another user may have put another directory in its place, but an empty one is of no use to that user. Where the
    // file system does not keep the mark, a directory in which another thread has made a file stays the host's.
    if ((entry.mode & JUST_MADE) === 0 && (await readdir(within(own, '.')).catch(tellPlace)).length > 0) return;
    await finish(own, mode ?? entry.mode & PERMISSIONS, given);
  } finally {
    closeSync(own);
  }
}

/**
 * Finishes a directory that a killed host had made but not yet given to its owner. Only a host marks a directory that
 * no other user may write to.
 */
async function finishLeft(descriptor: number, { mode, owner = null }: Making): Promise<void> {
  if (owner === null || process.geteuid?.() !== 0) return;
  const entry = await fstat(descriptor);
  const isLeft = entry.uid === 0 && (entry.mode & JUST_MADE) !== 0 && distrustOf(entry) === null;
  if (!isLeft || (await readdir(within(descriptor, '.')).catch(tellPlace)).length > 0) return;
  await finish(descriptor, mode ?? entry.mode & PERMISSIONS, owner);
}

async function finish(descriptor: number, mode: number, owner: FileOwner | null): Promise<void> {
  const place = pathOf(descriptor);
  // Some file systems and user name spaces do not know the owner; the directory then stays the host's.
  if (owner !== null)
    await chown(place, owner.uid, owner.gid)
      .catch(ignore('EINVAL', 'EPERM', 'ENOTSUP'))
      .catch(tellPlace);
  // Takes the mark away, so it comes last: a killed host must not leave a directory that is the host's without it.
  await chmod(place, mode).catch(tellPlace);
}

function isOwn(uid: number): boolean {
  return uid === 0 || uid === process.geteuid?.();
}

function checkedName(name: string): string {
  if (name === '' || name === '.' || name === '..' || name.includes('/'))
    throw new Error(`${JSON.stringify(name)} is no name in a directory`);
  return name;
}

function partsOf(place: string): string[] {
  return place.split('/').filter(part => part !== '' && part !== '.');
}

function ignore(...codes: readonly string[]): (error: NodeJS.ErrnoException) => undefined {
  return error => {
    if (!codes.includes(error.code ?? '')) throw error;
  };
}
