// Stackwarden as a process of its own, run from its sources as its command line would be.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from './until.ts';

const mainFile = fileURLToPath(new URL('../../core/cli/main.ts', import.meta.url));
const rootDir = path.dirname(path.dirname(mainFile));
/** Test files that run at the same time take theirs from different parts. */
const PORTS_OF_A_JOB = 1_500;
const FIRST_PORT = 20_000 + (Number(process.env.TAP_JOB_ID ?? 0) % 8) * PORTS_OF_A_JOB;
const given = new Set<number>();

export interface RunningStackwarden {
  readonly child: ChildProcess;
  readonly base: string;
  stdout(): string;
  stderr(): string;
  /** Resolves when the process has gone. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface StackwardenOptions {
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  /** Given to the process under this number, as a careless parent would. */
  readonly openDescriptor?: number;
}

/** Starts the command; nothing is waited for. */
export function spawnStackwarden(
  configDir: string,
  { args = ['start'], env, openDescriptor }: StackwardenOptions = {},
): RunningStackwarden & { port?: number } {
  const careless = openDescriptor === undefined ? [] : [...Array(openDescriptor - 3).fill('ignore'), 'pipe'];
  // What looks into the processes of tests does not stand being confined, as commands that look are.
  const words = ['-u', 'NODE_OPTIONS', process.execPath, '--import=tsx', mainFile];
  const child = spawn('env', [...words, ...args, '--config-dir', configDir], {
    cwd: rootDir,
    env: { ...process.env, TAP: '', ...env },
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

/** Starts the service and waits until it answers. The configuration must give `dumb.api_service.port`. */
export async function startStackwarden(
  configDir: string,
  port: number,
  options: StackwardenOptions = {},
): Promise<RunningStackwarden> {
  const running = { ...spawnStackwarden(configDir, options), base: `http://127.0.0.1:${port}` };
  let gone = false;
  void running.exited.then(() => {
    gone = true;
  });
  await until(
    async () => {
      if (gone) return true;
      return (await fetch(`${running.base}/host/plugins`)).ok;
    },
    { timeoutMs: 60_000, what: 'the service to answer' },
  );
  if (gone) throw new Error(`the service ended at once: ${running.stderr()}`);
  return running;
}

/** Writes a configuration with its own free port, its own log directory and no gateway; returns the port. */
export async function writeConfig(configDir: string, config: Record<string, unknown> = {}): Promise<number> {
  const port = await freePort();
  const dumb = (config.dumb ?? {}) as Record<string, unknown>;
  await mkdir(configDir, { recursive: true });
  await writeFile(
    path.join(configDir, 'stackwarden.json'),
    JSON.stringify({
      puid: 65_534,
      pgid: 65_534,
      ...config,
      dumb: {
        log_dir: path.join(configDir, 'log'),
        gateway: { enabled: false },
        api_service: { port },
        ...dumb,
      },
    }),
  );
  return port;
}

/** A port that was free a moment ago, outside the range from which outgoing connections take theirs. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + randomInt(PORTS_OF_A_JOB);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
