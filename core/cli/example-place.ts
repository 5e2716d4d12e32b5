// Directories outside the configuration directory from which an example runs: only the host's user can write to them,
// and they are removed with the example.
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const PREFIX = 'stackwarden-example-';
/**
 * A file in each place with the path of the record that names the place. When that record is gone or names another
 * place, the example is gone too.
 */
const NAMED_BY = '.named-by';
/** The age from which on a place can be forgotten: a younger one may belong to an example that is being written. */
const FORGOTTEN_AFTER_MS = 600_000;

/** The first directory that services can reach; a user's own temporary directory may be private. */
async function parentDirectory(): Promise<string> {
  for (const directory of [tmpdir(), '/tmp', '/var/tmp']) {
    if (await isOpenToAll(directory)) return directory;
  }
  throw new Error('no temporary directory is open to services; start with a --config-dir that their user reaches');
}

/** Whether every user can pass through each directory on the path, but others cannot rename what is in it. */
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
 * Makes a place, with the given name if that is free. A directory that another user made first is never used, because
 * making it then fails. `record` is the file that will name the place.
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

/** Whether the place is a directory of the host's user that nobody else can write to. */
export async function isPrivatePlace(place: string): Promise<boolean> {
  const found = await lstat(place).catch(() => undefined);
  const isOurs = found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
  return isOurs && path.basename(place).startsWith(PREFIX) && (await isOpenToAll(path.dirname(place)));
}

/** Whether the place is the working directory of a process. */
export async function isPlaceInUse(place: string): Promise<boolean> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const directories = await Promise.all(pids.map(pid => readlink(`/proc/${pid}/cwd`).catch(() => '')));
  return directories.includes(place);
}

/** Removes places of examples whose folder was deleted while no host ran that could have removed them. */
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
