// Allows one host per configuration directory. The lock names a process by pid and kernel start time, so a dead one
// never blocks.
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';

/** Throws an Error that names the process holding the directory. Returns a function that releases the lock. */
export async function lockInstance(configDir: string): Promise<() => Promise<void>> {
  const file = path.join(configDir, 'supervisor', 'host.lock');
  await mkdir(path.dirname(file), { recursive: true });
  const mine = `${process.pid} ${await startTime(process.pid)}\n`;
  for (;;) {
    try {
      const handle = await open(file, 'wx', 0o600);
      await handle.writeFile(mine);
      await handle.close();
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const [pid = '', start = ''] = (await readLock(file)).trim().split(' ');
    if (start !== '' && Number(pid) !== process.pid && (await startTime(Number(pid))) === start) {
      throw new Error(`another Stackwarden (pid ${pid}) runs on ${configDir}; stop it, or choose another --config-dir`);
    }
    await rm(file, { force: true });
  }
}

async function readLock(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** Field 22 of /proc/<pid>/stat, in clock ticks after boot; null when there is no such process. */
async function startTime(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
