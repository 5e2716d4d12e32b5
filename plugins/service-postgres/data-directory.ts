// Creates the data directory of the database server on its first start. initdb works in a subdirectory, and its result
// is moved out when it is complete, PG_VERSION last: a directory with PG_VERSION is never incomplete.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { chmod, type FileHandle, mkdtemp, open, readdir, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Problem } from '#core';
import { requireAnswer } from '#kit/answering';
import { runInDirectories } from '#kit/directory-command';
import { errorText } from '#kit/error-text';
import { type FileOwner, GuardedDirectory } from '#kit/guarded-directory';
import { endLeftOver, marks } from '#kit/left-over';
import { publicEnvironment } from '#kit/public-environment';

export interface DataDirectory {
  readonly directory: string;
  readonly initdb: string;
  readonly user: string;
  readonly password: string;
  /** Further arguments of initdb. */
  readonly extra: readonly string[];
  readonly owner: FileOwner | null;
  readonly signal: AbortSignal;
}

const VERSION_FILE = 'PG_VERSION';
/** A file that the server writes at each start, and keeps. */
const SERVED_FILE = 'postmaster.opts';
/** The folder of the first database, from which all others are copied. */
const FIRST_DATABASE = '1';
/** The prefix of names that this file creates; files of users do not begin like this. */
const OWN_PREFIX = '.stackwarden-';
const BEGUN = `${OWN_PREFIX}initdb`;
const MADE = `${OWN_PREFIX}initdb-made`;
const ASIDE = `${OWN_PREFIX}unfinished-`;
const REMOVE = ['-rf', '--', `/proc/self/fd/3/${BEGUN}`];
/** The write-ahead log; a link if initdb was told to keep it elsewhere (--waldir), in a directory that was empty. */
const LOG = 'pg_wal';
const SEGMENT = '[0-9A-F]'.repeat(24);
const EMPTY_LOG = [
  `/proc/self/fd/3/${BEGUN}/${LOG}/`,
  ...['-depth', '-mindepth', '1', '-maxdepth', '1'],
  ...['(', '-type', 'f', '(', '-name', SEGMENT, '-o', '-name', 'xlogtemp.*', ')'],
  ...['-o', '-type', 'd', '-empty', '(', '-name', 'archive_status', '-o', '-name', 'summaries', ')', ')'],
  '-delete',
];

/** Whether the directory is a data directory. Throws a Problem 503 for a mount that does not answer. */
export async function hasData(directory: string): Promise<boolean> {
  await requireAnswer([directory]);
  return isThere(path.join(directory, VERSION_FILE));
}

/**
 * Whether an initdb that worked in the directory itself was interrupted. Such a directory holds no data of users: no
 * server has run on it, and it has no database that users connect to, as a copy of a server's data would.
 */
export async function isUnfinished(directory: string): Promise<boolean> {
  if (await isThere(path.join(directory, SERVED_FILE))) return false;
  const databases = await readdir(path.join(directory, 'base')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return databases.every(name => name === FIRST_DATABASE);
}

/** Moves everything in `directory` into a new subdirectory, and returns the path of that. */
export async function putAside(directory: string, owner: FileOwner | null): Promise<string> {
  const held = await GuardedDirectory.open(directory);
  const name = `${ASIDE}${Date.now()}`;
  try {
    const aside = await held.enter(name, { mode: 0o700, owner });
    try {
      const names = (await held.names()).filter(isUsers);
      // PG_VERSION is moved last: as long as it is there, the next start continues an interrupted move.
      for (const one of [...names.filter(other => other !== VERSION_FILE), VERSION_FILE])
        await held.move(one, aside, one);
    } finally {
      aside.close();
    }
    await held.sync();
    return path.join(directory, name);
  } finally {
    held.close();
  }
}

/** Makes the server's user the owner of the directory, which may still belong to root. */
export async function handOver(directory: string, owner: FileOwner | null): Promise<void> {
  if (owner === null) return;
  const held = await GuardedDirectory.open(directory);
  await held.give(owner).finally(() => held.close());
}

/**
 * Creates the data directory, continuing an interrupted earlier call. Throws a Problem 500 with the end of initdb's
 * output, or a Problem 409 for a directory with other files in it.
 */
export async function initialise(data: DataDirectory): Promise<void> {
  const { directory, owner, signal } = data;
  const held = await GuardedDirectory.open(directory);
  try {
    const names = await held.names();
    if (!names.includes(MADE)) {
      const other = names.find(isUsers);
      if (other !== undefined)
        throw new Problem(
          409,
          `no data directory is made in ${directory}, because there is something else in it (${other}); move that away, or name another config_dir`,
        );
      await endEarlier(held.path);
      await removeBegun(held, owner, signal);
      await runInitdb({ ...data, directory: path.join(held.path, BEGUN) });
      await held.rename(BEGUN, MADE);
      await held.sync();
    }
    await moveOut(held);
  } finally {
    held.close();
  }
}

/** Removes what an interrupted initdb left, with the rights of the server's user, who may have put anything there. */
async function removeBegun(held: GuardedDirectory, user: FileOwner | null, signal: AbortSignal): Promise<void> {
  const options = { directories: [held], user, signal };
  // A log directory elsewhere that is not empty is reported by initdb.
  if (await isLink(path.join(held.path, BEGUN, LOG)))
    await runInDirectories('find', EMPTY_LOG, options).catch(() => undefined);
  await runInDirectories('rm', REMOVE, options);
}

/**
 * Ends an initdb whose host was killed: it would go on writing to the new directory. Throws a Problem 409 when it
 * cannot be ended.
 */
async function endEarlier(directory: string): Promise<void> {
  try {
    await endLeftOver(workIn(directory));
  } catch (error) {
    throw new Problem(409, `no data directory is made in ${directory}: ${errorText(error)}; end that first`, {
      cause: error,
    });
  }
}

function workIn(directory: string): string {
  return `initdb ${directory}`;
}

/** Moves the result of initdb into the data directory. After a power failure at any step, a later call can continue. */
async function moveOut(held: GuardedDirectory): Promise<void> {
  const made = await held.enter(MADE);
  try {
    const [names, present] = await Promise.all([made.names(), held.names()]);
    const taken = names.find(name => present.includes(name));
    if (taken !== undefined)
      throw new Problem(409, `${path.join(held.path, taken)} is in the way of a new data directory; move it away`);
    const { mode } = (await held.stat(MADE)) ?? { mode: 0o700 };
    // The server refuses a data directory that other users may read; initdb's arguments decide about its group.
    await chmod(`/proc/self/fd/${held.descriptor}/.`, mode & 0o750);
    for (const name of names.filter(other => other !== VERSION_FILE)) await made.move(name, held, name);
    await held.sync();
    await made.move(VERSION_FILE, held, VERSION_FILE);
    await held.removeDirectory(MADE);
    await held.sync();
  } finally {
    made.close();
  }
}

function isUsers(name: string): boolean {
  return !name.startsWith(OWN_PREFIX);
}

/** The password is passed in a file, because arguments are visible to other users. */
async function runInitdb({ directory, initdb, user, password, extra, owner, signal }: DataDirectory): Promise<void> {
  const file = await namelessFile(`${password}\n`, owner);
  try {
    const fixed = ['-D', directory, '-U', user, '--pwfile=/proc/self/fd/3', '--encoding=UTF8', '--locale=C.UTF-8'];
    const env = { ...publicEnvironment(process.env), ...marks(workIn(path.dirname(directory))) };
    await run(initdb, [...fixed, '--auth=scram-sha-256', ...extra], file, { ...owner, env, signal });
  } finally {
    await file.close();
  }
}

/** An open file without a name, which exists only while it is open. The name is removed before `text` is written. */
async function namelessFile(text: string, owner: FileOwner | null): Promise<FileHandle> {
  const place = await mkdtemp(path.join(tmpdir(), 'stackwarden-initdb-'));
  let handle: FileHandle | undefined;
  try {
    handle = await open(path.join(place, 'password'), 'wx', 0o600);
    await rm(place, { recursive: true });
    if (owner !== null) await handle.chown(owner.uid, owner.gid);
    await handle.writeFile(text);
    return handle;
  } catch (error) {
    await handle?.close();
    await rm(place, { recursive: true, force: true });
    throw error;
  }
}

/** Runs a program that gets the file as descriptor 3. Rejects with a Problem 500 when it fails. */
function run(program: string, args: readonly string[], file: FileHandle, options: SpawnOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(program, args, {
      ...options,
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe', file.fd],
    });
    let words = '';
    child.stderr?.on('data', (part: Buffer) => {
      words = (words + part).slice(-2_000);
    });
    child.on('error', error => reject(new Problem(500, `${program} cannot be run`, { cause: error })));
    child.on('close', code => {
      const line =
        words
          .trim()
          .split('\n')
          .find(text => /error|fatal/i.test(text)) ?? words.trim().split('\n').at(-1);
      if (code === 0) resolve();
      else reject(new Problem(500, `the data directory could not be made: ${line ?? `initdb ended with ${code}`}`));
    });
  });
}

function isLink(file: string): Promise<boolean> {
  return readlink(file).then(
    () => true,
    () => false,
  );
}

function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
