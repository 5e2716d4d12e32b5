// Runs the build as a process of its own, with a temporary configuration directory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeConfig } from '../../support/host-config.ts';
import { until } from '../../support/until.ts';

const distDir = fileURLToPath(new URL('../../../dist', import.meta.url));
const meterFile = fileURLToPath(new URL('./pause-meter.mjs', import.meta.url));
/** The options of Node that the systemd unit and the container image use. */
const OPTIONS = ['--v8-pool-size=1'];
const NS_PER_MS = 1_000_000;

export interface BuiltHost {
  readonly pid: number;
  readonly base: string;
  /** Milliseconds from the start of the process to its first answer. */
  readonly firstAnswerMs: number;
  get<Answer>(pathAndQuery: string): Promise<Answer>;
  post(pathAndQuery: string, json: unknown): Promise<void>;
  /** The longest pause of the event loop since the last call, in ms. Only for a metered host. */
  longestPauseMs(): Promise<number>;
  /** Collects the garbage of the main thread. Only for a metered host. */
  collectGarbage(): Promise<void>;
  /** Stops the meter until the next call of `longestPauseMs`, because it takes a percent of a core or more. */
  restMeter(): void;
  /** Signals the host, and resolves when it has ended. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

export interface Place {
  readonly configDir: string;
  readonly port: number;
  remove(): Promise<void>;
}

type Config = Record<string, unknown>;

export async function makePlace(config: Config | ((configDir: string) => Config) = {}): Promise<Place> {
  const configDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-bench-'));
  const port = await writeConfig(configDir, typeof config === 'function' ? config(configDir) : config);
  return { configDir, port, remove: () => rm(configDir, { recursive: true, force: true }) };
}

/** The configuration of `count` services that only sleep, and are not enabled. */
export function sleepers(count: number): Record<string, unknown> {
  const blocks = Array.from({ length: count }, (_, index) => [
    `sleeper_${index}`,
    { enabled: false, process_name: `Sleeper ${index}`, command: ['sleep', '86400'], config_dir: '/' },
  ]);
  return Object.fromEntries(blocks);
}

export async function startBuilt(
  { configDir, port }: Place,
  args: readonly string[] = [],
  isMetered = false,
  buildDir = distDir,
): Promise<BuiltHost> {
  const mainFile = path.join(buildDir, 'core/cli/main.js');
  const base = `http://127.0.0.1:${port}`;
  const startedMs = performance.now();
  const meter = isMetered ? [`--import=${meterFile}`] : [];
  const child = spawn(process.execPath, [...OPTIONS, ...meter, mainFile, 'start', '--config-dir', configDir, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', ...(isMetered ? ['ipc' as const] : [])],
  });
  const exited = once(child, 'exit');
  const pid = child.pid;
  if (pid === undefined) throw new Error('the host did not start');
  await until(async () => (await fetch(`${base}/process/capabilities`)).ok, { intervalMs: 2 });
  const firstAnswerMs = performance.now() - startedMs;
  return {
    pid,
    base,
    firstAnswerMs,
    async get<Answer>(pathAndQuery: string) {
      return (await (await fetch(base + pathAndQuery)).json()) as Answer;
    },
    async post(pathAndQuery, json) {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(base + pathAndQuery, { method: 'POST', headers, body: JSON.stringify(json) });
      if (!answer.ok) throw new Error(`${pathAndQuery} answers ${answer.status}: ${await answer.text()}`);
    },
    async longestPauseMs() {
      const told = once(child, 'message');
      child.send('tell');
      return Number((await told)[0]);
    },
    async collectGarbage() {
      const done = once(child, 'message');
      child.send('collect');
      await done;
    },
    restMeter() {
      child.send('rest');
    },
    async end(signal) {
      child.kill(signal);
      await exited;
    },
  };
}

export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

/** Processor time of all threads of a process so far, more precise than the ticks in its stat file. */
export async function cpuMs(pid: number): Promise<number> {
  return [...(await threadTimes(pid)).values()].reduce((sum, ms) => sum + ms, 0);
}

/** Processor time during `work` of the threads that live at its end; the time of a thread that ends is lost with it. */
export async function cpuMsDuring(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = await threadTimes(pid);
  await work();
  const after = await threadTimes(pid);
  return [...after].reduce((sum, [thread, ms]) => sum + ms - (before.get(thread) ?? 0), 0);
}

/** Milliseconds of processor time by thread. */
async function threadTimes(pid: number): Promise<Map<string, number>> {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = await Promise.all(
    threads.map(async thread => {
      const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8');
      return [thread, Number(text.split(' ')[0]) / NS_PER_MS] as const;
    }),
  );
  return new Map(times);
}
