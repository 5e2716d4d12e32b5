// A sample with 50 managed processes, and its text for a client: processor time for each, and the longest pause of the
// event loop; against a plain reading of the same files of /proc.
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { cpuMsDuring, makePlace, sleepers, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const SERVICES = 50;
const ROUNDS = 3;
const SAMPLES = 20;
/** Before, V8 still compiles what a sample runs. */
const WARM_UP_SAMPLES = 100;
/** As often as a client of the stream can have one. */
const APART_MS = 500;

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

/** Samples are taken while a client listens. */
async function listen(url: string, samples = SAMPLES): Promise<void> {
  const socket = new WebSocket(url);
  for (let index = 0; index < samples; index += 1) await once(socket, 'message');
  socket.terminate();
}

const place = await makePlace({ ...sleepers(SERVICES), dumb: { metrics: { history_enabled: false } } });
const host = await startBuilt(place, [], true);
try {
  for (let index = 0; index < SERVICES; index += 1)
    await host.post('/process/start-service', { process_name: `Sleeper ${index}` });
  const url = `ws://127.0.0.1:${place.port}/ws/metrics?interval=${APART_MS / 1_000}`;
  await listen(url, WARM_UP_SAMPLES);
  const sampling: number[] = [];
  const plain: number[] = [];
  host.restMeter();
  for (let round = 0; round < ROUNDS; round += 1) {
    const restMs = await cpuMsDuring(host.pid, () => delay(SAMPLES * APART_MS));
    sampling.push(((await cpuMsDuring(host.pid, () => listen(url))) - restMs) / SAMPLES);
    plain.push(plainMs());
  }
  const all = readdirSync('/proc').filter(name => /^\d+$/.test(name)).length;
  printFigure({
    name: `metrics: a sample of ${SERVICES} processes, of ${all}`,
    unit: 'ms of CPU',
    runs: sampling,
    baseline: plain,
  });
  await host.longestPauseMs();
  await listen(url);
  printFigure({ name: 'metrics: longest pause', unit: 'ms', runs: [await host.longestPauseMs()], baseline: [0] });
} finally {
  await host.end('SIGTERM');
  await place.remove();
}
