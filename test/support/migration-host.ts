// Starts a host in a process of its own that kills itself right before or right after a certain save of a job file.
import { type ChildProcess, spawn } from 'node:child_process';
import { hostProgram } from './host-program.ts';
import { withNeeds } from './needs.ts';
import { until } from './until.ts';

/** `holds` is a text that the saved file contains for the first time. */
export interface KillPoint {
  readonly when: 'before' | 'after';
  readonly holds: string;
}

interface Options {
  readonly configDir: string;
  readonly plugins: readonly string[];
  readonly pace: number;
  readonly kill?: KillPoint;
}

export interface MigrationHost {
  readonly child: ChildProcess;
  readonly base: string;
  readonly exited: Promise<void>;
  output(): string;
}

/** Resolves when the host answers or has ended. The host ends with this process at the latest. */
export async function startMigrationHost(options: Options): Promise<MigrationHost> {
  const plugins = await withNeeds(options.plugins);
  const child = spawn(process.execPath, hostProgram({ ...options, plugins, listen: { port: 0 } }), {
    env: { ...process.env, NODE_OPTIONS: '', TAP: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = (): void => void child.kill('SIGTERM');
  process.once('exit', end);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  let isGone = false;
  const exited = new Promise<void>(resolve => {
    child.once('close', () => {
      isGone = true;
      process.off('exit', end);
      resolve();
    });
  });
  const find = () => /^at (http:\S+)$/m.exec(output)?.[1];
  await until(() => isGone || find(), { what: 'the host to answer', timeoutMs: 120_000 });
  return { child, base: find() ?? '', exited, output: () => output };
}
