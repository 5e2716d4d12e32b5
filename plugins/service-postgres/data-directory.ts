// Creates the data directory of the database server on its first start.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, lchown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Problem } from '#core';
import { requireAnswer } from '#kit/answering';
import { type FileOwner, GuardedDirectory } from '#kit/guarded-directory';
import { publicEnvironment } from '#kit/public-environment';

export interface DataDirectory {
  readonly directory: string;
  readonly initdb: string;
  readonly user: string;
  readonly password: string;
  /** Further arguments of initdb. */
  readonly extra: readonly string[];
  readonly owner: FileOwner | null;
  readonly signal: AbortSignal;
}

/** Throws a Problem 503 for a mount that does not answer. */
export async function hasData(directory: string): Promise<boolean> {
  await requireAnswer([directory]);
  return stat(path.join(directory, 'PG_VERSION')).then(
    () => true,
    () => false,
  );
}

/** Gives the server's user a directory that is still root's. initdb itself closes it to other users. */
export async function handOver(directory: string, owner: FileOwner | null): Promise<void> {
  if (owner === null) return;
  const held = await GuardedDirectory.open(directory);
  await held.give(owner).finally(() => held.close());
}

/**
 * Throws a Problem 500 with the end of initdb's output. The password is passed in a file, because arguments are visible
 * to other users.
 */
export async function initialise({ directory, initdb, user, password, extra, owner, signal }: DataDirectory) {
  const place = await mkdtemp(path.join(tmpdir(), 'stackwarden-initdb-'));
  const file = path.join(place, 'password');
  try {
    await writeFile(file, `${password}\n`, { mode: 0o600 });
    // The directory stays the host's, so that nobody can exchange the file.
    if (owner !== null) {
      await lchown(file, owner.uid, owner.gid);
      await chmod(place, 0o711);
    }
    const fixed = ['-D', directory, '-U', user, `--pwfile=${file}`, '--encoding=UTF8', '--locale=C.UTF-8'];
    await run(initdb, [...fixed, '--auth=scram-sha-256', ...extra], owner, signal);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

function run(program: string, args: readonly string[], owner: FileOwner | null, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const env = publicEnvironment(process.env);
    const child: ChildProcess = spawn(program, args, {
      ...owner,
      env,
      cwd: '/',
      signal,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let words = '';
    child.stderr?.on('data', (part: Buffer) => {
      words = (words + part).slice(-2_000);
    });
    child.on('error', error => reject(new Problem(500, `${program} cannot be run`, { cause: error })));
    child.on('close', code => {
      const line =
        words
          .trim()
          .split('\n')
          .find(text => /error|fatal/i.test(text)) ?? words.trim().split('\n').at(-1);
      if (code === 0) resolve();
      else reject(new Problem(500, `the data directory could not be made: ${line ?? `initdb ended with ${code}`}`));
    });
  });
}
