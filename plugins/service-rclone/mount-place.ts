// Prepares the mount point: removes the mount that an earlier run has left there.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const LIMIT_MS = 5_000;

/** Uses the mount table, because the path of a dead mount must not be touched. */
export async function freeMountPlace(directory: string): Promise<void> {
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  const isMounted = table.split('\n').some(line => line.split(' ')[4] === directory.replaceAll(' ', '\\040'));
  if (!isMounted) return;
  await run('umount', ['--lazy', directory], { timeout: LIMIT_MS, killSignal: 'SIGKILL' });
}
