// Places outside the configuration directory from which an example runs: made by us, writable by nobody else, removed with it.
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const PREFIX = 'stackwarden-example-';
/** In each place: the record that names it. Where that names another, or is gone, the place is forgotten. */
const NAMED_BY = '.named-by';
/** A younger one may be about to be named. */
const FORGOTTEN_AFTER_MS = 600_000;

/** A temporary directory may itself be private to its user; then the machine's own are taken. */
async function parentDirectory(): Promise<string> {
  for (const directory of [tmpdir(), '/tmp', '/var/tmp']) {
    if (await isOpenToAll(directory)) return directory;
  }
  throw new Error('no temporary directory is open to services; start with a --config-dir that their user reaches');
}

/** Every directory down to it may be passed by everybody, and what lies in it cannot be renamed by others. */
async function isOpenToAll(directory: string): Promise<boolean> {
  for (let part = directory; part !== path.dirname(part); part = path.dirname(part)) {
    const found = await lstat(part).catch(() => undefined);
    if (found === undefined || !found.isDirectory() || (found.mode & 0o001) === 0) return false;
    const othersWrite = (found.mode & 0o022) !== 0 || ![0, process.getuid?.()].includes(found.uid);
    if (othersWrite && (found.mode & 0o1000) === 0) return false;
  }
  return true;
}

/**
 * A new place, of the given name where that is free: a directory that somebody else made first is never taken, because
 * making it fails then. `record` is the file that names it.
 */
export async function makePlace(record: string, wanted?: string): Promise<string> {
  const place = await makeDirectory(wanted);
  await writeFile(path.join(place, NAMED_BY), record, { mode: 0o600 });
  await chmod(place, 0o755);
  return place;
}

async function makeDirectory(wanted: string | undefined): Promise<string> {
  try {
    if (wanted === undefined || !(await isOpenToAll(path.dirname(wanted)))) throw new Error('no name is wanted');
    await mkdir(wanted, { mode: 0o700 });
    return wanted;
  } catch {
    return mkdtemp(path.join(await parentDirectory(), PREFIX));
  }
}

/** Whether it is a directory of ours that nobody else can write. */
export async function isPrivatePlace(place: string): Promise<boolean> {
  const found = await lstat(place).catch(() => undefined);
  const isOurs = found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
  return isOurs && path.basename(place).startsWith(PREFIX) && (await isOpenToAll(path.dirname(place)));
}

/** Whether a process has its working directory there. */
export async function isPlaceInUse(place: string): Promise<boolean> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const directories = await Promise.all(pids.map(pid => readlink(`/proc/${pid}/cwd`).catch(() => '')));
  return directories.includes(place);
}

/** Removes places whose example is gone: its folder was deleted while nothing ran that could have done it. */
export async function removeForgottenPlaces(): Promise<void> {
  const parent = await parentDirectory();
  for (const name of await readdir(parent)) {
    const place = path.join(parent, name);
    if (!name.startsWith(PREFIX) || !(await isPrivatePlace(place)) || (await isPlaceInUse(place))) continue;
    const note = path.join(place, NAMED_BY);
    const { mtimeMs } = await lstat(note).catch(() => ({ mtimeMs: 0 }));
    if (Date.now() - mtimeMs < FORGOTTEN_AFTER_MS) continue;
    const record = await readFile(note, 'utf8').catch(() => '');
    const named = await readFile(record, 'utf8').catch(() => '');
    if (named.trim() !== place) await rm(place, { recursive: true, force: true });
  }
}
