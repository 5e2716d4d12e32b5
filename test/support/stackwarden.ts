// Stackwarden as a process of its own: from the build of the test run if there is one, else from its sources.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { kill, processesWith } from './marked-processes.ts';
import { withNeeds } from './needs.ts';
import { PACE } from './pace.ts';
import { TYPESCRIPT } from './typescript.ts';
import { until } from './until.ts';

export { freePort, writeConfig } from './host-config.ts';

const rootDir = fileURLToPath(new URL('../..', import.meta.url));
const { STACKWARDEN_TEST_BUILD: buildDir } = process.env;
/** Arguments of Node that run the command line. */
export const COMMAND =
  buildDir === undefined
    ? [TYPESCRIPT, path.join(rootDir, 'core/cli/main.ts')]
    : [path.join(buildDir, 'core/cli/main.js')];
/** The same pace as in hosts of `startHost`. */
const PACE_OPTION = ['--pace', String(PACE)];

export interface RunningStackwarden {
  readonly child: ChildProcess;
  readonly base: string;
  stdout(): string;
  stderr(): string;
  /** Resolves when the process has ended and its output is complete. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface StackwardenOptions {
  /** Default: `start`. `start` runs at the pace of tests. */
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  /** For `start`: these plugins and those that they need. Default: every plugin. */
  readonly plugins?: readonly string[];
  /** A descriptor that the process inherits under this number, as from a careless parent. */
  readonly openDescriptor?: number;
  /** The directory of the build that is started. Default: the build of the test run, or the sources. */
  readonly build?: string;
  /** A program with arguments that executes the command which follows them. */
  readonly within?: readonly string[];
}

/**
 * A variable of every host that is started here. Its services inherit it, and are found by it when they outlive a
 * killed host.
 */
const MARK_NAME = 'STACKWARDEN_TEST_HOSTS';
const mark = randomUUID();
let endsAll = false;

/** Starts the command and waits for nothing. */
export function spawnStackwarden(
  configDir: string,
  { args = ['start'], env, openDescriptor, build, within = [] }: StackwardenOptions = {},
): RunningStackwarden & { port?: number } {
  if (!endsAll) t.teardown(endAll);
  endsAll = true;
  const careless = openDescriptor === undefined ? [] : [...Array(openDescriptor - 3).fill('ignore'), 'pipe'];
  const pace = args[0] === 'start' ? PACE_OPTION : [];
  const command = build === undefined ? COMMAND : [path.join(build, 'core/cli/main.js')];
  const [program = '', ...words] = [...within, process.execPath, ...command, ...args, ...pace];
  const child = spawn(program, [...words, '--config-dir', configDir], {
    cwd: rootDir,
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      TAP: '',
      STACKWARDEN_CHECK_ANSWERS: '1',
      [MARK_NAME]: mark,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', ...careless],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>(resolve => {
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  return { child, base: '', stdout: () => stdout, stderr: () => stderr, exited };
}

/** Kills what a test that failed half-way has left. */
async function endAll(): Promise<void> {
  const left = () => processesWith(`${MARK_NAME}=${mark}`);
  for (const { pid } of await left()) kill(pid);
  await until(async () => (await left()).length === 0, { what: 'the end of what hosts have left' });
}

/** Starts the service and waits until it answers. The configuration must give `dumb.api_service.port`. */
export async function startStackwarden(
  configDir: string,
  port: number,
  options: StackwardenOptions = {},
): Promise<RunningStackwarden> {
  const { args = ['start'], plugins } = options;
  const chosen = plugins === undefined ? [] : ['--plugins', (await withNeeds(plugins)).join(',')];
  const spawned = spawnStackwarden(configDir, { ...options, args: [...args, ...chosen] });
  const running = { ...spawned, base: `http://127.0.0.1:${port}` };
  let gone = false;
  void running.exited.then(() => {
    gone = true;
  });
  await until(
    async () => {
      if (gone) return true;
      await fetch(running.base);
      return true;
    },
    { timeoutMs: 60_000, what: 'the service to answer' },
  );
  if (gone) throw new Error(`the service ended at once: ${running.stderr()}`);
  return running;
}
