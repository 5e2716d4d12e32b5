// Finds which process listens on a TCP port, for messages; what /proc does not show stays unknown.
import { readdir, readFile, readlink } from 'node:fs/promises';

const LISTENING = '0A';

/** Name and pid, such as `nginx (pid 812)`; undefined when that cannot be seen, as for the processes of other users. */
export async function findPortHolder(port: number): Promise<string | undefined> {
  const inodes = new Set((await Promise.all(['tcp', 'tcp6'].map(table => listenersIn(table, port)))).flat());
  if (inodes.size === 0) return undefined;
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  for (const pid of pids) {
    if (!(await holdsAny(pid, inodes))) continue;
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => 'a process');
    return `${name.trim()} (pid ${pid})`;
  }
  return undefined;
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

async function holdsAny(pid: string, inodes: ReadonlySet<string>): Promise<boolean> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const targets = await Promise.all(names.map(name => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  return targets.some(target => inodes.has(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? ''));
}
