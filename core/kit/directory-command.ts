// Runs a command in directories that are held: the child inherits their descriptors, so no link can lead it elsewhere.
import { spawn } from 'node:child_process';
import type { FileOwner, GuardedDirectory } from './guarded-directory.ts';
import { publicEnvironment } from './public-environment.ts';

export interface DirectoryCommand {
  /** The command knows them as `/proc/self/fd/3` and so on, in this order. */
  readonly directories: readonly GuardedDirectory[];
  /** The user that the command runs as. Default, and null: the host's own. */
  readonly user?: FileOwner | null;
  /** Kills the command. */
  readonly signal?: AbortSignal;
}

const MAX_WORDS = 2_000;

/** Throws an Error with the end of what the command said when it fails. */
export function runInDirectories(
  command: string,
  args: readonly string[],
  { directories, user = null, signal }: DirectoryCommand,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      ...(user ?? {}),
      ...(signal === undefined ? {} : { signal }),
      killSignal: 'SIGKILL',
      env: { ...publicEnvironment(process.env), LC_ALL: 'C' },
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe', ...directories.map(({ descriptor }) => descriptor)],
    });
    let words = '';
    child.stderr?.on('data', (part: Buffer) => {
      words = (words + part).slice(-MAX_WORDS);
    });
    child.on('error', reject);
    child.on('close', code => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ended with ${code}: ${words.trim()}`));
    });
  });
}
