// Creates the data directory of the database server on its first start.
import { spawn } from 'node:child_process';
import { chmod, chown, lchown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Problem } from '#core';
import { publicEnvironment } from '#kit/public-environment';

export interface DataDirectory {
  readonly directory: string;
  readonly initdb: string;
  readonly user: string;
  readonly password: string;
  /** Further arguments of initdb. */
  readonly extra: readonly string[];
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  readonly signal: AbortSignal;
}

export async function hasData(directory: string): Promise<boolean> {
  return stat(path.join(directory, 'PG_VERSION')).then(
    () => true,
    () => false,
  );
}

/** The server refuses a directory that other users can read. */
export async function protect(directory: string, owner: DataDirectory['owner']): Promise<void> {
  if (owner !== null) await chown(directory, owner.uid, owner.gid);
  await chmod(directory, 0o700);
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
    if (owner !== null) for (const target of [place, file]) await lchown(target, owner.uid, owner.gid);
    const fixed = ['-D', directory, '-U', user, `--pwfile=${file}`, '--encoding=UTF8', '--locale=C.UTF-8'];
    await run(initdb, [...fixed, '--auth=scram-sha-256', ...extra], owner, signal);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

function run(
  program: string,
  args: readonly string[],
  owner: DataDirectory['owner'],
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const env = publicEnvironment(process.env);
    const child = spawn(program, args, { ...owner, env, cwd: '/', signal, stdio: ['ignore', 'ignore', 'pipe'] });
    let words = '';
    child.stderr.on('data', (part: Buffer) => {
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
