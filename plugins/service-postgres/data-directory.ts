// Creates the data directory of the database server on its first start. initdb works in a directory of its own within
// it, and what it has made is moved out when all of it is there: a directory with PG_VERSION is never half made.
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
/** What the server writes at each start, and keeps. */
const SERVED_FILE = 'postmaster.opts';
/** The folder of the first database, from which all others are copied. */
const FIRST_DATABASE = '1';
/** None of a user's own begins like this. */
const OWN_PREFIX = '.stackwarden-';
const BEGUN = `${OWN_PREFIX}initdb`;
const MADE = `${OWN_PREFIX}initdb-made`;
const ASIDE = `${OWN_PREFIX}unfinished-`;
const REMOVE = ['-rf', '--', `/proc/self/fd/3/${BEGUN}`];
/**
 * A link where initdb was told to keep the log of transactions elsewhere (--waldir). It is made in an empty directory.
 */
const LOG = 'pg_wal';
const SEGMENT = '[0-9A-F]'.repeat(24);
const EMPTY_LOG = [
  `/proc/self/fd/3/${BEGUN}/${LOG}/`,
  ...['-depth', '-mindepth', '1', '-maxdepth', '1'],
  ...['(', '-type', 'f', '(', '-name', SEGMENT, '-o', '-name', 'xlogtemp.*', ')'],
  ...['-o', '-type', 'd', '-empty', '(', '-name', 'archive_status', '-o', '-name', 'summaries', ')', ')'],
  '-delete',
];

/** Throws a Problem 503 for a mount that does not answer. */
export async function hasData(directory: string): Promise<boolean> {
  await requireAnswer([directory]);
  return isThere(path.join(directory, VERSION_FILE));
}

/**
 * Whether initdb began in the directory itself, and was interrupted. There is nothing of a user: no server has run on
 * it, and it has none of the databases that users connect to, with which a copy of another server's data comes.
 */
export async function isUnfinished(directory: string): Promise<boolean> {
  if (await isThere(path.join(directory, SERVED_FILE))) return false;
  const databases = await readdir(path.join(directory, 'base')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return databases.every(name => name === FIRST_DATABASE);
}

/** Moves everything into a directory within it, whose path is the result. */
export async function putAside(directory: string, owner: FileOwner | null): Promise<string> {
  const held = await GuardedDirectory.open(directory);
  const name = `${ASIDE}${Date.now()}`;
  try {
    const aside = await held.enter(name, { mode: 0o700, owner });
    try {
      const names = (await held.names()).filter(isUsers);
      // While this is there, an interrupted move is gone on with.
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

/** Gives the server's user a directory that is still root's. initdb itself closes it to other users. */
export async function handOver(directory: string, owner: FileOwner | null): Promise<void> {
  if (owner === null) return;
  const held = await GuardedDirectory.open(directory);
  await held.give(owner).finally(() => held.close());
}

/**
 * Goes on with what an earlier call has left. Throws a Problem 500 with the end of initdb's output, or a Problem 409
 * for a directory with something else in it.
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

/** With the rights of the server's user, who may have put anything there. */
async function removeBegun(held: GuardedDirectory, user: FileOwner | null, signal: AbortSignal): Promise<void> {
  const options = { directories: [held], user, signal };
  // What stands in the way elsewhere is told by initdb.
  if (await isLink(path.join(held.path, BEGUN, LOG)))
    await runInDirectories('find', EMPTY_LOG, options).catch(() => undefined);
  await runInDirectories('rm', REMOVE, options);
}

/**
 * An initdb whose host was killed goes on, and would fill what is made anew. Throws a Problem 409 when it cannot be
 * ended.
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

/** Each step can be the last before a loss of power. */
async function moveOut(held: GuardedDirectory): Promise<void> {
  const made = await held.enter(MADE);
  try {
    const [names, present] = await Promise.all([made.names(), held.names()]);
    const taken = names.find(name => present.includes(name));
    if (taken !== undefined)
      throw new Problem(409, `${path.join(held.path, taken)} is in the way of a new data directory; move it away`);
    const { mode } = (await held.stat(MADE)) ?? { mode: 0o700 };
    // The server refuses one that others may look into; initdb was told whether its group may.
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

/**
 * A file that is gone with the last that has it open, however the host ends. Its name is gone before it has its text.
 */
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

/** The program has the file as its descriptor 3. */
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
