// A host in a process of its own, with options that the command line does not have, for faults that affect a process.
import { type ChildProcess, spawn } from 'node:child_process';
import type { HostOptions } from '../../core/host/host-options.ts';
import { hostProgram } from './host-program.ts';
import { until } from './until.ts';

type Options = Pick<HostOptions, 'configDir' | 'deadlines' | 'recoveryPausesMs' | 'plugins'>;

export interface HostProcess {
  readonly child: ChildProcess;
  readonly base: string;
  output(): string;
  readonly exited: Promise<number | null>;
  json(path: string, init?: RequestInit): Promise<unknown>;
}

/** Resolves when the host answers. The configuration must give `dumb.api_service.port`. */
export async function startHostProcess(
  port: number,
  options: Options,
  { onSpawn, env = {} }: { onSpawn?: (child: ChildProcess) => void; env?: NodeJS.ProcessEnv } = {},
): Promise<HostProcess> {
  const child = spawn(process.execPath, hostProgram({ ...options, stdout: true }), {
    env: { ...process.env, NODE_OPTIONS: '', TAP: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onSpawn?.(child);
  // A test that is cut short must not leave its host behind.
  process.once('exit', () => child.kill('SIGTERM'));
  let output = '';
  const take = (text: string): void => {
    output += text;
  };
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  let gone = false;
  const exited = new Promise<number | null>(resolve => {
    child.on('close', code => {
      gone = true;
      resolve(code);
    });
  });
  const base = `http://127.0.0.1:${port}`;
  const answers = async (): Promise<boolean> => {
    const { body, ok } = await fetch(`${base}/host/plugins`);
    // The body is large, and an unread body keeps its connection open even after the host has ended.
    await body?.cancel();
    return ok;
  };
  await until(async () => gone || answers(), { timeoutMs: 500_000, what: 'the host to answer' });
  if (gone) throw new Error(`the host ended at once: ${output}`);
  const json = async (path: string, init?: RequestInit) => (await fetch(base + path, init)).json() as Promise<unknown>;
  return { child, base, output: () => output, exited, json };
}
