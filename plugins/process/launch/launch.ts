// Starts one program in a session of its own, its output on the spool's descriptor. What can be known before is said before.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fchownSync, openSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '#core';
import type { LaunchPlan } from '../contract.ts';

interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface Launched {
  readonly child: ChildProcess;
  readonly pid: number;
  /** The leader's end; output may still be on its way. */
  readonly exited: Promise<Exit>;
}

/** The kernel answers a missing program and a missing directory alike, so each is looked for first. */
export async function checkLaunchable({ processName, argv, cwd, env }: LaunchPlan): Promise<void> {
  const [program] = argv;
  if (program === undefined || program === '') {
    throw new Problem(400, `${processName} has no command; set its key command`);
  }
  if (cwd !== undefined && !(await isDirectory(cwd))) {
    throw new Problem(400, `${processName}: config_dir ${cwd} does not exist or is not a directory`);
  }
  const candidates = program.includes('/')
    ? [path.resolve(cwd ?? '.', program)]
    : (env.PATH ?? '').split(':').map(directory => path.join(directory, program));
  const codes = await Promise.all(candidates.map(executability));
  if (codes.includes('')) return;
  const denied = codes.includes('EACCES');
  throw new Problem(400, `${processName}: command ${program} ${denied ? 'is not executable' : 'was not found'}`);
}

async function isDirectory(directory: string): Promise<boolean> {
  try {
    return (await stat(directory)).isDirectory();
  } catch {
    return false;
  }
}

/** Empty when the file can be executed, else the error's code. */
async function executability(file: string): Promise<string> {
  try {
    if (!(await stat(file)).isFile()) return 'EACCES';
    await access(file, constants.X_OK);
    return '';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'ENOENT';
  }
}

/** Throws a Problem 400 when the program cannot be started at all. */
export async function launch(plan: LaunchPlan, spoolFile: string): Promise<Launched> {
  const [program = '', ...args] = plan.argv;
  const output = openSync(spoolFile, 'a', 0o600);
  const umask = process.umask(0o022);
  try {
    if (plan.user !== null) giveTo(output, plan.user);
    const child = spawn(program, args, {
      cwd: plan.cwd,
      env: plan.env,
      detached: true,
      stdio: ['ignore', output, output],
      ...(plan.user === null ? {} : { uid: plan.user.uid, gid: plan.user.gid }),
    });
    const failed = new Promise<never>((_resolve, reject) => child.once('error', reject));
    const { pid } = child;
    if (pid === undefined) return await failed;
    failed.catch(() => undefined);
    const exited = new Promise<Exit>(resolve => child.once('exit', (code, signal) => resolve({ code, signal })));
    return { child, pid, exited };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Problem(400, `${plan.processName}: command ${program} cannot be started (${code ?? 'spawn failed'})`, {
      cause: error,
    });
  } finally {
    process.umask(umask);
    closeSync(output);
  }
}

/** Programs may open /dev/stdout by name. Where a file system gives nothing away those alone fail. */
function giveTo(descriptor: number, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  try {
    fchownSync(descriptor, uid, gid);
  } catch {
    // Its owner stays.
  }
}
