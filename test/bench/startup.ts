// The time from the start of the process to its first answer, and its memory then, for the whole build and a trimmed
// one, against bare Node.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildInto } from '../support/build.ts';
import { makePlace, residentMegabytes, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const RUNS = 5;
const BARE = "require('http').createServer((q, s) => s.end('x')).listen(0, () => console.log('up'))";

interface Sample {
  readonly ms: number;
  readonly megabytes: number;
}

async function bareNode(): Promise<Sample> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, ['-e', BARE], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  const ms = performance.now() - startedMs;
  const megabytes = await residentMegabytes(child.pid ?? 0);
  child.kill('SIGKILL');
  return { ms, megabytes };
}

async function stackwarden(buildDir?: string): Promise<Sample> {
  const place = await makePlace();
  const host = await startBuilt(place, [], false, buildDir);
  const megabytes = await residentMegabytes(host.pid);
  await host.end('SIGTERM');
  await place.remove();
  return { ms: host.firstAnswerMs, megabytes };
}

/** The first run only warms the caches of the disk, and does not count. */
async function measure(run: () => Promise<Sample>): Promise<Sample[]> {
  await run();
  const samples: Sample[] = [];
  for (let index = 0; index < RUNS; index += 1) samples.push(await run());
  return samples;
}

const directory = await mkdtemp(path.join(tmpdir(), 'stackwarden-bench-startup-'));
const trimmed = path.join(directory, 'build');
await buildInto(trimmed, ['process', 'config', 'auth', 'logs']);
const bare = await measure(bareNode);
const subjects = {
  'startup-full': await measure(() => stackwarden()),
  'startup-trimmed': await measure(() => stackwarden(trimmed)),
};
await rm(directory, { recursive: true });
for (const [name, samples] of Object.entries(subjects)) {
  for (const [unit, pick] of [
    ['ms to the first answer', (sample: Sample) => sample.ms],
    ['MB resident', (sample: Sample) => sample.megabytes],
  ] as const) {
    printFigure({ name, unit, runs: samples.map(pick), baseline: bare.map(pick) });
  }
}
