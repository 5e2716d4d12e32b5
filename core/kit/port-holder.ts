// Finds which process listens on a TCP port, for messages; a process that /proc does not show stays unknown.
import { readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';

const LISTENING = '0A';
const UNSEEN = 'a process that only its own user and root can see';
/** How long a search that found nobody counts, while the port is held through the same sockets. */
const UNSEEN_MS = 60_000;

/**
 * The last search. A port that stays taken is asked for again and again, and a search reads the descriptors of all
 * processes.
 */
let last: Search | undefined;

interface Search {
  /** The inodes that were searched for. */
  readonly sockets: string;
  /** undefined when nobody was found. */
  readonly pid: string | undefined;
  readonly atMs: number;
}

/** Name and pid, such as `nginx (pid 812)`; a process of another user may not be seen. */
export function findPortHolder(port: number): Promise<string> {
  return listenersOn(port)
    .then(nameOf)
    .catch(() => UNSEEN);
}

/** The same for a process other than this one; undefined when there is none. */
export async function findOtherHolder(port: number): Promise<string | undefined> {
  const inodes = await listenersOn(port);
  const own = await heldBy('self');
  const others = new Set([...inodes].filter(inode => !own.has(inode)));
  return others.size === 0 ? undefined : nameOf(others).catch(() => UNSEEN);
}

/** Whether one of these processes listens on the port. One whose sockets /proc does not show counts when any does. */
export async function mayListen(pids: readonly number[], port: number): Promise<boolean> {
  const inodes = await listenersOn(port);
  if (inodes.size === 0) return false;
  for (const pid of pids) if ((await isHidden(pid)) || (await holds(String(pid), inodes))) return true;
  return false;
}

/** Whether the kernel shows nothing of what the process has, as it does to a root without CAP_SYS_PTRACE. */
function isHidden(pid: number): Promise<boolean> {
  return readlink(`/proc/${pid}/cwd`).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'EACCES',
  );
}

async function nameOf(inodes: ReadonlySet<string>): Promise<string> {
  if (inodes.size === 0) return UNSEEN;
  const sockets = [...inodes].sort().join(' ');
  const before = last?.sockets === sockets ? last : undefined;
  const isRight = before !== undefined && (await isStillRight(before, inodes));
  const { pid } = isRight ? before : { pid: await findHolder(inodes) };
  if (!isRight) last = { sockets, pid, atMs: performance.now() };
  return pid === undefined ? UNSEEN : `${await programOf(pid)} (pid ${pid})`;
}

async function isStillRight({ pid, atMs }: Search, inodes: ReadonlySet<string>): Promise<boolean> {
  return pid === undefined ? performance.now() - atMs < UNSEEN_MS : holds(pid, inodes);
}

async function findHolder(inodes: ReadonlySet<string>): Promise<string | undefined> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  for (const pid of pids) if (await holds(pid, inodes)) return pid;
  return undefined;
}

async function holds(pid: string, inodes: ReadonlySet<string>): Promise<boolean> {
  const held = await heldBy(pid);
  return [...inodes].some(inode => held.has(inode));
}

/** The name of the process; that of its program where Node has named the process after its main thread. */
async function programOf(pid: string): Promise<string> {
  const name = (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => 'a process')).trim();
  if (!name.endsWith('MainThread')) return name;
  return readlink(`/proc/${pid}/exe`).then(path.basename, () => name);
}

async function listenersOn(port: number): Promise<ReadonlySet<string>> {
  return new Set((await Promise.all(['tcp', 'tcp6'].map(table => listenersIn(table, port)))).flat());
}

/** The inodes of the sockets that listen on the port. */
async function listenersIn(table: string, port: number): Promise<string[]> {
  const text = await readFile(`/proc/net/${table}`, 'utf8').catch(() => '');
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return text
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .flatMap(([, local, , state, , , , , , inode]) =>
      local?.endsWith(suffix) === true && state === LISTENING && inode !== undefined ? [inode] : [],
    );
}

/** The inodes of the sockets that a process has. */
async function heldBy(pid: string): Promise<ReadonlySet<string>> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const targets = await Promise.all(names.map(name => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  return new Set(targets.flatMap(target => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []));
}
