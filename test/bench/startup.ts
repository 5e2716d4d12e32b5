// From the start of the process to its first answer, and its memory then, full and trimmed, against bare Node.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const RUNS = 5;
const main = fileURLToPath(new URL('../../dist/core/main.js', import.meta.url));

interface Sample {
  readonly ms: number;
  readonly megabytes: number;
}

async function memoryOf(child: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

async function bareNode(): Promise<Sample> {
  const startedMs = performance.now();
  const child = spawn(
    process.execPath,
    ['-e', "require('http').createServer((q, s) => s.end('x')).listen(0, () => console.log('up'))"],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  await once(child.stdout, 'data');
  const ms = performance.now() - startedMs;
  const megabytes = await memoryOf(child);
  child.kill('SIGKILL');
  return { ms, megabytes };
}

async function stackwarden(plugins: string | undefined): Promise<Sample> {
  const configDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-bench-'));
  const port = await writeConfig(configDir);
  const args = plugins === undefined ? [] : ['--plugins', plugins];
  const startedMs = performance.now();
  const child = spawn(process.execPath, [main, 'start', '--config-dir', configDir, ...args], { stdio: 'ignore' });
  await until(async () => (await fetch(`http://127.0.0.1:${port}/process/capabilities`)).ok, { intervalMs: 2 });
  const ms = performance.now() - startedMs;
  const megabytes = await memoryOf(child);
  child.kill('SIGTERM');
  await once(child, 'exit');
  await rm(configDir, { recursive: true });
  return { ms, megabytes };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function measure(name: string, run: () => Promise<Sample>, baseline?: Sample): Promise<Sample> {
  await run();
  const samples: Sample[] = [];
  for (let index = 0; index < RUNS; index += 1) samples.push(await run());
  const sample = {
    ms: median(samples.map(({ ms }) => ms)),
    megabytes: median(samples.map(({ megabytes }) => megabytes)),
  };
  for (const [unit, value, base] of [
    ['ms to the first answer', sample.ms, baseline?.ms],
    ['MB resident', sample.megabytes, baseline?.megabytes],
  ] as const) {
    console.log(
      JSON.stringify({
        name,
        unit,
        median: Math.round(value),
        runs: RUNS,
        ratio: base === undefined ? 1 : Number((value / base).toFixed(2)),
      }),
    );
  }
  return sample;
}

const baseline = await measure('bare node', bareNode);
await measure('stackwarden, every plugin', () => stackwarden(undefined), baseline);
await measure('stackwarden, process, config and logs', () => stackwarden('process,config,logs'), baseline);
