// Runs tasks about links in a child process, as the host does: from the build of the test run if there is one.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import type { FromChild, TaskName } from '../../plugins/symlinks/tasks/task.ts';
import { TYPESCRIPT } from './typescript.ts';

const rootDir = fileURLToPath(new URL('../..', import.meta.url));
const { STACKWARDEN_TEST_BUILD: buildDir } = process.env;
const PROGRAM = 'plugins/symlinks/task-worker';
const COMMAND =
  buildDir === undefined ? [TYPESCRIPT, path.join(rootDir, `${PROGRAM}.ts`)] : [path.join(buildDir, `${PROGRAM}.js`)];

export interface TaskOptions {
  /** The directory in which the task writes its own files. */
  readonly configDir: string;
  readonly id: string;
  /** How long a check of a link's target may take; default 10 s. */
  readonly answerMs?: number;
  /** The directories of the product; default the one with the sources. */
  readonly installDirs?: readonly string[];
  /** Called with each message but the last. */
  readonly heard?: (message: FromChild) => void;
}

export interface RunningTask {
  readonly child: ChildProcess;
  /** Resolves once the child has ended, with the last message; undefined when there was none. */
  readonly ended: Promise<TaskEnd | undefined>;
  /** Resolves with the last message when it arrives: a child may outlive it while its threads hang. */
  readonly answered: Promise<TaskEnd>;
}

type TaskEnd = Extract<FromChild, { kind: 'result' | 'failure' }>;

export function startTask(task: TaskName, input: object, options: TaskOptions): RunningTask {
  const child = spawnChild();
  const gone = once(child, 'exit');
  let last: TaskEnd | undefined;
  const answered = answerOf(child, task, input, options).then(message => {
    last = message;
    child.kill('SIGKILL');
    return message;
  });
  const ended = gone.then(() => last);
  return { child, ended, answered };
}

/** Runs tasks one after the other in a child that ends with the test; gives the last message of each task. */
export function startTaskChild(t: Test, options: TaskOptions): (task: TaskName, input: object) => Promise<TaskEnd> {
  const child = spawnChild();
  t.teardown(() => child.kill('SIGKILL'));
  const gone = once(child, 'exit').then(() => {
    throw new Error('the child has ended');
  });
  gone.catch(() => undefined);
  return (task, input) => Promise.race([answerOf(child, task, input, options), gone]);
}

function spawnChild(): ChildProcess {
  return spawn(process.execPath, COMMAND, { cwd: rootDir, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

function answerOf(
  child: ChildProcess,
  task: TaskName,
  input: object,
  { configDir, id, answerMs = 10_000, installDirs = [rootDir], heard }: TaskOptions,
): Promise<TaskEnd> {
  const places = { configDir, stateDir: path.join(configDir, 'symlink-repair'), installDirs };
  child.send({ kind: 'run', task, input, id, places, answerMs }, () => undefined);
  return new Promise(resolve => {
    const receive = (message: FromChild): void => {
      if (message.kind === 'alive' || message.kind === 'progress') {
        heard?.(message);
        return;
      }
      child.off('message', receive);
      resolve(message);
    };
    child.on('message', receive);
  });
}

/** The result of a task that succeeds. */
export async function taskResult(task: TaskName, input: object, options: TaskOptions) {
  const message = await startTask(task, input, options).ended;
  if (message?.kind !== 'result') throw new Error(`${task} failed: ${JSON.stringify(message)}`);
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of any shape
  return message.result as any;
}

/** The input of a repair that rewrites and moves nothing, except for what `given` says. */
export function repairInput(given: object): object {
  return {
    dryRun: false,
    includeBroken: true,
    overwrites: false,
    copies: false,
    roots: [],
    rules: [],
    migrations: [],
    backupPath: null,
    owner: null,
    mountsDown: [],
    ...given,
  };
}

/** The input of a restore that writes and replaces nothing, except for what `given` says. */
export function restoreInput(given: object): object {
  return { dryRun: false, overwrites: false, restoreBroken: true, sampleLimit: 0, mountsDown: [], ...given };
}
