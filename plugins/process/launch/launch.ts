// Launches a program in a new session with its output on the spool's descriptor. Faults that can be found beforehand
// are found by `launchFaults`.
import { spawn } from 'node:child_process';
import { access, constants, type FileHandle, stat } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Problem } from '#core';
import { requireAnswer } from '#kit/answering';
import { lacksDescriptors } from '#kit/descriptors';
import { reasonText } from '#kit/error-text';
import { GuardedDirectory, giveFile } from '#kit/guarded-directory';
import { lacksProcesses, withoutProcesses } from '#kit/process-limit';
import type { ExitRecord, LaunchPlan } from '../contract.ts';

type Exit = Pick<ExitRecord, 'code' | 'signal'>;

export interface Launched {
  readonly pid: number;
  /** Resolves when the leader has ended; some of its output may still be unread. */
  readonly exited: Promise<Exit>;
}

/** Throws the first Problem of `launchFaults`. */
export async function checkLaunchable(plan: LaunchPlan): Promise<void> {
  const [fault] = await launchFaults(plan);
  if (fault !== undefined) throw fault;
}

/**
 * The reasons why a launch would fail. Program and directory are looked at separately, because the kernel reports
 * ENOENT for either.
 */
export async function launchFaults(plan: LaunchPlan): Promise<Problem[]> {
  const { processName, argv, cwd } = plan;
  const [program = ''] = argv;
  const refusal = (why: string): Problem => new Problem(400, `${processName} cannot start: ${why}`);
  // Starting a program blocks until its directory is entered and its file is read.
  const own = hasPlace(program) ? placesOf(plan) : [];
  await requireAnswer(cwd === undefined ? own : [cwd, ...own]);
  const isAway = cwd !== undefined && !(await isDirectory(cwd));
  const away = `config_dir ${cwd} does not exist or is not a directory; create it or correct the key`;
  const faults = isAway ? [refusal(away)] : [];
  // A program that is named relative to a missing directory cannot be looked at.
  if (isAway && hasPlace(program) && !path.isAbsolute(program)) return faults;
  if (!isAway && cwd !== undefined && (await isClosedToRoot(cwd))) return [refusal(closedToRoot(cwd))];
  const fault = await programFault(plan);
  return fault === undefined ? faults : [...faults, refusal(fault)];
}

/** Why the program cannot be run; undefined when it can. */
async function programFault(plan: LaunchPlan): Promise<string | undefined> {
  const [program = ''] = plan.argv;
  if (program === '') return 'it has no command; set its key command';
  const codes = await Promise.all(placesOf(plan).map(executability));
  if (codes.includes('')) return undefined;
  if (hasPlace(program) && codes.includes('EISDIR')) return `command ${program} is a directory; name the program in it`;
  if (codes.includes('EACCES'))
    return `command ${program} is not executable; allow it with chmod +x, mount its file system without noexec, or correct the key command`;
  const where = hasPlace(program) ? '' : ' in any directory of PATH';
  return `command ${program} was not found${where}; install it, or correct the key command`;
}

/** Whether a program is named by its path; any other is looked for in the directories of PATH. */
function hasPlace(program: string): boolean {
  return program.includes('/');
}

/** The files that the program of a launch may be. */
function placesOf({ argv, cwd, env }: LaunchPlan): string[] {
  const [program = ''] = argv;
  if (hasPlace(program)) return [path.resolve(cwd ?? '.', program)];
  return (env.PATH ?? '').split(':').map(directory => path.join(directory, program));
}

async function isDirectory(directory: string): Promise<boolean> {
  try {
    return (await stat(directory)).isDirectory();
  } catch {
    return false;
  }
}

/** The host enters the directory before it becomes the user of the process. Others are checked as that user. */
async function isClosedToRoot(directory: string): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  const fault = await access(directory, constants.X_OK).catch((error: NodeJS.ErrnoException) => error.code);
  return fault === 'EACCES';
}

function closedToRoot(directory: string): string {
  return (
    `its directory ${directory} is closed to Stackwarden, which is root without CAP_DAC_OVERRIDE or on a mount that ` +
    'squashes root; give it this capability (docker: --cap-add DAC_OVERRIDE), or run chmod o+x on the directory'
  );
}

/** Empty when the file can be executed, otherwise the code of the error. */
async function executability(file: string): Promise<string> {
  try {
    const entry = await stat(file);
    if (!entry.isFile()) return entry.isDirectory() ? 'EISDIR' : 'EACCES';
    await access(file, constants.X_OK);
    return '';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'ENOENT';
  }
}

/** A fork blocks the event loop, so each turn of the loop has one fork at most. */
let turn: Promise<void> = Promise.resolve();

function ownTurn(): Promise<void> {
  turn = turn.then(() => nextTurn());
  return turn;
}

/** Opens the output file for `launch`, which closes it. Throws a Problem 503 when no descriptor is left for it. */
export async function openOutput(plan: LaunchPlan, spoolFile: string): Promise<FileHandle> {
  let output: FileHandle;
  try {
    output = await GuardedDirectory.at(spoolFile, (directory, name) => directory.openFile(name, 'append', 0o600));
  } catch (error) {
    throw lacksDescriptors(error) ? withoutDescriptors(plan, error) : error;
  }
  // Programs may open /dev/stdout by name. Where the spool cannot be given to their user, only such programs fail.
  await giveFile(output, plan.user, { isNew: true }).catch(() => undefined);
  return output;
}

/**
 * Without `input` the program has no standard input. Throws a Problem 400 when it cannot be started, 503 when no
 * descriptor or process is left for it, and the reason of the plan's signal when the start was cancelled.
 */
export async function launch(plan: LaunchPlan, output: FileHandle, input?: FileHandle): Promise<Launched> {
  const [program = '', ...args] = plan.argv;
  await ownTurn();
  // A hand-over does not wait for slow starts, and the next supervision has already looked for launched processes.
  if (plan.signal.aborted) {
    await output.close();
    throw plan.signal.reason;
  }
  const umask = process.umask(0o022);
  try {
    const child = spawn(program, args, {
      cwd: plan.cwd,
      env: plan.env,
      detached: true,
      stdio: [input?.fd ?? 'ignore', output.fd, output.fd],
      ...(plan.user === null ? {} : { uid: plan.user.uid, gid: plan.user.gid }),
    });
    const failed = new Promise<never>((_resolve, reject) => child.once('error', reject));
    const { pid } = child;
    if (pid === undefined) return await failed;
    failed.catch(() => undefined);
    const exited = new Promise<Exit>(resolve => child.once('exit', (code, signal) => resolve({ code, signal })));
    return { pid, exited };
  } catch (error) {
    if (lacksDescriptors(error)) throw withoutDescriptors(plan, error);
    if (lacksProcesses(error)) throw withoutProcesses(`${plan.processName} cannot start`, error);
    throw new Problem(400, `${plan.processName} cannot start: command ${program} ${faultOfProgram(error)}`, {
      cause: error,
    });
  } finally {
    process.umask(umask);
    await output.close();
  }
}

/** The program itself exists, as was checked before. */
function faultOfProgram(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'needs an interpreter or loader that is missing; its first line or `ldd` tells which';
  if (code === 'EACCES')
    return 'cannot be run, or an interpreter that its first line names cannot; look at their modes';
  return `cannot be run: ${reasonText(error)}`;
}

/** The refusal of a start for want of descriptors. */
export function withoutDescriptors({ processName }: Pick<LaunchPlan, 'processName'>, cause: unknown): Problem {
  const detail = `${processName} is not started, because no file descriptor is left; raise the limit (ulimit -n)`;
  return new Problem(503, detail, { cause });
}
