// Copies and removes whole trees in children, which inherit the descriptors of the directories and follow no link.
import { spawn } from 'node:child_process';
import type { FileOwner, GuardedDirectory } from '#kit/guarded-directory';
import { publicEnvironment } from '#kit/public-environment';

interface Work {
  /** The directories that the command knows as `/proc/self/fd/3` and so on. */
  readonly directories: readonly GuardedDirectory[];
  readonly user?: FileOwner | null;
  readonly signal?: AbortSignal;
}

const MAX_WORDS = 2_000;

/** Copies all that one directory holds into another with the rights of `user`; null stands for the host's own. */
export function copyContent(
  from: GuardedDirectory,
  to: GuardedDirectory,
  user: FileOwner | null,
  signal: AbortSignal,
): Promise<void> {
  return run('cp', ['-aT', '--', '/proc/self/fd/3/.', '/proc/self/fd/4/.'], { directories: [from, to], user, signal });
}

/** Removes what the name stands for in the directory. `rm` enters each directory by its descriptor. */
export function removeTree(directory: GuardedDirectory, name: string): Promise<void> {
  return run('rm', ['-rf', '--', `/proc/self/fd/3/${name}`], { directories: [directory] });
}

/** Throws an Error with the end of what the command said. */
function run(command: string, args: readonly string[], { directories, user, signal }: Work): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      ...(user ?? {}),
      ...(signal === undefined ? {} : { signal }),
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
