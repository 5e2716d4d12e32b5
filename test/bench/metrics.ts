// A sample with 50 managed processes: processor time for each, and the longest pause of the event loop; against a plain
// reading of the same files of /proc.
import { readdirSync, readFileSync } from 'node:fs';
import { cpuMs, makePlace, sleepers, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const SERVICES = 50;
const ROUNDS = 3;
const SAMPLES = 5;
/** Longer than a sample is given out again. */
const APART_MS = 2_100;

/** What cannot be left out: one look at each process and at the machine. */
function readPlainly(): void {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      readFileSync(`/proc/${name}/stat`, 'latin1');
      readFileSync(`/proc/${name}/io`, 'latin1');
    } catch {
      // It has ended.
    }
  }
  for (const file of ['/proc/stat', '/proc/meminfo', '/proc/diskstats', '/proc/net/dev', '/proc/loadavg'])
    readFileSync(file, 'latin1');
}

function plainMs(): number {
  const before = process.cpuUsage();
  for (let index = 0; index < SAMPLES; index += 1) readPlainly();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / SAMPLES;
}

const place = await makePlace(sleepers(SERVICES));
const host = await startBuilt(place, [], true);
try {
  for (let index = 0; index < SERVICES; index += 1)
    await host.post('/process/start-service', { process_name: `Sleeper ${index}` });
  await host.get('/metrics');
  const idle: number[] = [];
  const sampling: number[] = [];
  const plain: number[] = [];
  const wait = (): Promise<void> => new Promise(resolve => setTimeout(resolve, APART_MS));
  const spent = async (work: () => Promise<unknown>): Promise<number> => {
    const before = await cpuMs(host.pid);
    for (let index = 0; index < SAMPLES; index += 1) {
      await work();
      await wait();
    }
    return ((await cpuMs(host.pid)) - before) / SAMPLES;
  };
  await host.longestPauseMs();
  for (let round = 0; round < ROUNDS; round += 1) {
    const restMs = await spent(async () => undefined);
    idle.push(restMs);
    sampling.push((await spent(() => host.get('/metrics'))) - restMs);
    plain.push(plainMs());
  }
  printFigure({ name: 'metrics: a sample of 50 processes', unit: 'ms of CPU', runs: sampling, baseline: plain });
  printFigure({ name: 'metrics: longest pause', unit: 'ms', runs: [await host.longestPauseMs()], baseline: [0] });
} finally {
  await host.end('SIGTERM');
  await place.remove();
}
