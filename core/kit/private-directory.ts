// A directory of the host's own state: only the host's user may write to it, and no link is followed on the way to it
// or in it.
import { constants, type Stats } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { tellPlace, within, withPlaces } from './descriptor-path.ts';
import { distrustOf, hide } from './trust.ts';

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const OPEN_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const TEMPORARY = /\.[0-9a-f]{12}\.tmp$/;

export class PrivateDirectory {
  readonly path: string;
  readonly #handle: FileHandle;

  private constructor(place: string, handle: FileHandle) {
    this.path = place;
    this.#handle = handle;
  }

  /**
   * Opens `root/part/part...`. Missing parts are created, or null is returned when `create` is false and any is
   * missing. Each part is held by its descriptor, so that nobody can exchange it. A part that existed loses the
   * permissions of other users, unless `keepModes` is true. Throws an Error that says how to fix it when a part is a
   * link, belongs to another user, or may be written by others. `root` itself is not checked.
   */
  static async open(
    root: string,
    parts: readonly string[],
    options?: { create?: true; keepModes?: boolean },
  ): Promise<PrivateDirectory>;
  static async open(
    root: string,
    parts: readonly string[],
    options: { create: boolean; keepModes?: boolean },
  ): Promise<PrivateDirectory | null>;
  static async open(
    root: string,
    parts: readonly string[],
    { create = true, keepModes = false }: { create?: boolean; keepModes?: boolean } = {},
  ): Promise<PrivateDirectory | null> {
    let place = root;
    const rootHandle = await open(root, constants.O_RDONLY | constants.O_DIRECTORY).catch((error: Error) => {
      if (create || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    });
    if (rootHandle === undefined) return null;
    let handle = rootHandle;
    for (const part of parts) {
      place = path.join(place, part);
      const inner = await enter(handle, part, place, create);
      if (inner === null) return null;
      handle = inner;
      await refuseForeign(handle, place);
      if (!keepModes) await hide(handle, DIRECTORY_MODE);
    }
    return new PrivateDirectory(place, handle);
  }

  /** Whether the path still leads to the directory that was opened. */
  async isInPlace(): Promise<boolean> {
    const now = await open(this.path, OPEN_DIRECTORY).catch(() => undefined);
    if (now === undefined) return false;
    try {
      const [a, b] = await Promise.all([now.stat(), this.#handle.stat()]);
      return a.ino === b.ino && a.dev === b.dev;
    } finally {
      await now.close();
    }
  }

  names(): Promise<string[]> {
    return readdir(this.#inside('.')).catch(tellPlace);
  }

  /**
   * The content; null when there is no such file. Throws an Error when it is not a regular file or is larger than
   * `maxBytes`.
   */
  async read(name: string, maxBytes: number): Promise<Buffer | null> {
    const opened = open(this.#inside(name), OPEN_FILE).catch(ignore('ENOENT'));
    const handle = await opened.catch(refusalOfLink(path.join(this.path, name))).catch(tellPlace);
    if (handle === undefined) return null;
    try {
      const entry = await handle.stat();
      if (!entry.isFile()) throw new Error(`${path.join(this.path, name)} is no regular file`);
      if (entry.size > maxBytes) throw new Error(`${path.join(this.path, name)} is larger than ${maxBytes} bytes`);
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  }

  /**
   * The first bytes of a file; fewer when it is shorter, none when it is missing. Throws an Error when it is no regular
   * file.
   */
  async readHead(name: string, bytes: number): Promise<Buffer> {
    const opened = open(this.#inside(name), OPEN_FILE).catch(ignore('ENOENT'));
    const handle = await opened.catch(refusalOfLink(path.join(this.path, name))).catch(tellPlace);
    if (handle === undefined) return Buffer.alloc(0);
    try {
      if (!(await handle.stat()).isFile()) throw new Error(`${path.join(this.path, name)} is no regular file`);
      const head = Buffer.alloc(bytes);
      return head.subarray(0, (await handle.read(head, 0, bytes, 0)).bytesRead);
    } finally {
      await handle.close();
    }
  }

  /**
   * Replaces a file atomically. With `durable`, the default, the new content survives a loss of power and not only of
   * the process.
   */
  async replace(name: string, data: string, { durable = true }: { durable?: boolean } = {}): Promise<void> {
    const temporary = this.#inside(`${name}.${randomHex()}.tmp`);
    try {
      const handle = await open(temporary, 'wx', FILE_MODE);
      try {
        await handle.writeFile(data);
        if (durable) await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, this.#inside(name));
    } catch (error) {
      await rm(temporary, { force: true }).catch(tellPlace);
      tellPlace(error);
    }
    if (durable) await this.#handle.sync();
  }

  /**
   * Creates an empty file unless it exists. Throws an Error when the name belongs to anything but a regular file
   * without further hard links, or to a file of another user.
   */
  async ensureFile(name: string): Promise<Stats> {
    const flags = constants.O_RDONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = path.join(this.path, name);
    const handle = await open(this.#inside(name), flags, FILE_MODE).catch(refusalOfLink(file)).catch(tellPlace);
    try {
      const entry = await handle.stat();
      if (!entry.isFile() || entry.nlink !== 1) throw new Error(`${file} is no regular file of its own; remove it`);
      // The mode is corrected below, so only the owner counts here.
      const reason = distrustOf({ uid: entry.uid, mode: FILE_MODE });
      if (reason !== null)
        throw new Error(`${file} ${reason}, so it is not trusted; make it user ${process.geteuid?.()}'s, or remove it`);
      if ((entry.mode & 0o777) !== FILE_MODE) await handle.chmod(FILE_MODE);
      return entry;
    } finally {
      await handle.close();
    }
  }

  rename(from: string, to: string): Promise<void> {
    return rename(this.#inside(from), this.#inside(to)).catch(tellPlace);
  }

  async remove(name: string): Promise<void> {
    await rm(this.#inside(name), { force: true }).catch(tellPlace);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  #inside(name: string): string {
    return within(this.#handle.fd, name);
  }
}

/** Whether an interrupted `replace` has left this file. */
export function isTemporary(name: string): boolean {
  return TEMPORARY.test(name);
}

/**
 * From the global `crypto`: loading `node:crypto` takes a twentieth of a short command, which never replaces a file.
 */
function randomHex(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString('hex');
}

/** Opens a directory in another, which it closes; null when it is missing and not to be created. */
async function enter(parent: FileHandle, part: string, place: string, create: boolean): Promise<FileHandle | null> {
  const inside = within(parent.fd, part);
  try {
    if (create) await mkdir(inside, { mode: DIRECTORY_MODE }).catch(ignore('EEXIST'));
    return await open(inside, OPEN_DIRECTORY);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !create) return null;
    if (code === 'ELOOP' || code === 'ENOTDIR')
      throw new Error(`${place} is no directory but a link or a file; remove it`, { cause: withPlaces(error) });
    return tellPlace(error);
  } finally {
    await parent.close();
  }
}

async function refuseForeign(handle: FileHandle, place: string): Promise<void> {
  const entry = await handle.stat();
  const own = process.geteuid?.() ?? entry.uid;
  const reason = distrustOf(entry);
  if (reason === null) return;
  await handle.close();
  throw new Error(
    `${place} ${reason}, so what it holds is not trusted; make it user ${own}'s with mode 0700, or remove it`,
  );
}

function refusalOfLink(file: string): (error: NodeJS.ErrnoException) => never {
  return error => {
    throw error.code === 'ELOOP' ? new Error(`${file} is a link; remove it`) : error;
  };
}

function ignore(code: string): (error: NodeJS.ErrnoException) => undefined {
  return error => {
    if (error.code !== code) throw error;
  };
}
