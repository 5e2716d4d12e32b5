// A host in a process of its own that ends itself, as if killed, right before or right after a job file holds something.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createHost } from '../../core/host/host.ts';
import { PrivateDirectory } from '../../core/kit/private-directory.ts';
import { withNeeds } from './needs.ts';
import { TYPESCRIPT } from './typescript.ts';
import { until } from './until.ts';

const thisFile = fileURLToPath(new URL(import.meta.url));

/** `holds` is a text that the file is about to hold for the first time. */
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

/** Resolves when it answers. It ends with the test. */
export async function startMigrationHost(options: Options): Promise<MigrationHost> {
  const child = spawn(process.execPath, [TYPESCRIPT, thisFile, JSON.stringify(options)], {
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

function killAt({ when, holds }: KillPoint): void {
  const { replace } = PrivateDirectory.prototype;
  PrivateDirectory.prototype.replace = async function (name, data, options) {
    const isIt = /^[0-9a-f]{32}\.json$/.test(name) && data.includes(holds);
    if (isIt && when === 'before') process.kill(process.pid, 'SIGKILL');
    await replace.call(this, name, data, options);
    if (isIt) process.kill(process.pid, 'SIGKILL');
  };
}

if (process.argv[1] === thisFile) {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const { kill, plugins, ...options } = JSON.parse(process.argv[2] ?? '{}') as Options;
  if (kill !== undefined) killAt(kill);
  const host = await createHost({ ...options, plugins: await withNeeds(plugins), listen: { port: 0 } });
  process.on('SIGTERM', () => void host.stop());
  console.log(`at http://127.0.0.1:${host.address?.port}`);
  await host.stopped;
  process.exit();
}
