// Looks at a file from a child that can be left behind: whoever looks at a mount that is dead hangs with it.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Changes with the file. null: there is none, or none that can be seen. Throws an Error when nothing answers in time. */
export async function fileVersion(file: string, limitMs = 5_000): Promise<string | null> {
  try {
    const args = ['-L', '-c', '%d:%i:%s:%y', '--', file];
    const { stdout } = await run('stat', args, { timeout: limitMs, killSignal: 'SIGKILL' });
    return stdout.trim();
  } catch (error) {
    const { killed, code } = error as { readonly killed?: boolean; readonly code?: unknown };
    if (killed === true) throw new Error(`${file} does not answer`, { cause: error });
    if (typeof code !== 'number') throw error;
    return null;
  }
}
