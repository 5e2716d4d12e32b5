// Finds which process listens on a TCP port, for messages; a process that /proc does not show stays unknown.
import { readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';

const LISTENING = '0A';
const UNSEEN = 'a process that only its own user and root can see';

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

async function nameOf(inodes: ReadonlySet<string>): Promise<string> {
  if (inodes.size === 0) return UNSEEN;
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  for (const pid of pids) {
    const held = await heldBy(pid);
    if (![...inodes].some(inode => held.has(inode))) continue;
    return `${await programOf(pid)} (pid ${pid})`;
  }
  return UNSEEN;
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
