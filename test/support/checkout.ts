// A checkout of the project in a directory of its own, as a newcomer has it after `npm ci`, and commands typed in it.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { reachOf } from '../../core/kit/service-user.ts';
import { BUILD_ENV } from './build.ts';
import { mountMemory } from './directory.ts';

const run = promisify(execFile);
const rootDir = fileURLToPath(new URL('../..', import.meta.url));
const packages = path.join(rootDir, 'node_modules');
const PARTS = ['core', 'plugins', 'templates', 'test/contracts', 'test/support', 'package.json', 'tsconfig.json'];

export interface Checkout {
  readonly directory: string;
  /** Runs a command in the checkout and gives its output. */
  run(command: string, args: readonly string[], env?: Record<string, string>): Promise<string>;
  /** Starts a command in the checkout, as the leader of a process group. */
  spawn(command: string, args: readonly string[], env?: Record<string, string>): ChildProcess;
}

/**
 * `owner` owns the checkout and runs the commands; default: the user of the test. Nobody else can enter the directory.
 */
export async function checkOut(t: Test, owner?: { readonly uid: number; readonly gid: number }): Promise<Checkout> {
  const home = await mkdtemp(path.join(tmpdir(), 'stackwarden-home-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const [reach] = await reachOf([{ place: path.join(packages, 'zod', 'package.json'), use: 'name' }], owner);
  const isReachable = reach === 'open';
  // Hard links to the packages need a place on their disk.
  if (isReachable) mountMemory(t, home);
  const directory = path.join(home, 'stackwarden');
  await mkdir(directory);
  await run('cp', ['-r', '--parents', ...PARTS, directory], { cwd: rootDir });
  await chmod(home, 0o700);
  if (owner !== undefined) await run('chown', ['-R', '-h', `${owner.uid}:${owner.gid}`, home]);
  await installPackages(path.join(directory, 'node_modules'), isReachable);
  const env = (more: Record<string, string> = {}) => ({
    PATH: process.env.PATH,
    HOME: home,
    npm_config_cache: path.join(home, '.npm'),
    npm_config_update_notifier: 'false',
    ...BUILD_ENV,
    ...more,
  });
  // NODE_OPTIONS of tests would have each process write where the owner may not.
  const bare = ['-u', 'NODE_OPTIONS'];
  return {
    directory,
    run: async (command, args, more) =>
      (await run('env', [...bare, command, ...args], { ...owner, cwd: directory, env: env(more) })).stdout,
    spawn: (command, args, more) =>
      spawn('env', [...bare, command, ...args], {
        ...owner,
        cwd: directory,
        env: env(more),
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
  };
}

/**
 * Links to the installed packages. A user who cannot reach them gets hard links to the files, which that user cannot
 * change.
 */
async function installPackages(place: string, isReachable: boolean): Promise<void> {
  if (isReachable) await symlink(packages, place);
  else await run('cp', ['-al', packages, place]).catch(() => copyPackages(place));
}

/** Copies the packages when hard links are impossible because the checkout is on another disk. */
async function copyPackages(place: string): Promise<void> {
  await rm(place, { recursive: true, force: true });
  await run('cp', ['-a', packages, place]);
}
