// The processor time of a sample with 50 managed processes, by step: taking it, making its text, sending it to a client
// and storing it; and the longest pause of the event loop. The baseline is a plain read of the same files of /proc. A
// plugin asks for the samples inside the host, so that each step is measured alone.
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { cpuMsDuring, makePlace, sleepers, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const SERVICES = 50;
const ROUNDS = 5;
const SAMPLES = 20;
/** V8 still compiles the code of a sample during its first runs. */
const WARM_UP_SAMPLES = 100;
/** The shortest interval that a client of the stream can have. */
const APART_MS = 500;

/** Takes samples as other plugins would, and answers with the host's processor time for each step. */
const STEPS_PLUGIN = `
import { setTimeout as delay } from 'node:timers/promises';

const spent = async work => {
  const before = process.cpuUsage();
  const value = await work();
  const { user, system } = process.cpuUsage(before);
  return { value, ms: (user + system) / 1_000 };
};

export default {
  name: 'steps',
  host: '^1',
  needs: ['metrics'],
  setup(host) {
    host.route({
      method: 'GET',
      path: '/steps',
      summary: 'The processor time of samples, by step',
      async handle() {
        const sampler = host.use('metrics.sampler');
        const total = { sampleMs: 0, textMs: 0, keptMs: 0 };
        for (let index = 0; index < ${SAMPLES}; index += 1) {
          await delay(${APART_MS});
          const { value: sample, ms } = await spent(() => sampler.sample(${APART_MS / 2}));
          total.sampleMs += ms;
          total.textMs += (await spent(() => sampler.text(sample))).ms;
          total.keptMs += (await spent(() => JSON.stringify(sampler.kept(sample)))).ms;
        }
        return Object.fromEntries(Object.entries(total).map(([step, ms]) => [step, ms / ${SAMPLES}]));
      },
    });
  },
};
`;

interface Steps {
  readonly sampleMs: number;
  readonly textMs: number;
  readonly keptMs: number;
}

/** The least that a sample must do: one read for each process and for the machine. */
function readPlainly(): void {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      readFileSync(`/proc/${name}/stat`, 'latin1');
      readFileSync(`/proc/${name}/io`, 'latin1');
    } catch {
      // The process has ended.
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

/** Receives samples as a client. */
async function listen(url: string, samples = SAMPLES): Promise<void> {
  const socket = new WebSocket(url);
  for (let index = 0; index < samples; index += 1) await once(socket, 'message');
  socket.terminate();
}

/** Milliseconds of processor time per sample, without what the host uses otherwise. */
async function spentOnSamples(restMs: number, work: () => Promise<unknown>): Promise<number> {
  return ((await cpuMsDuring(host.pid, work)) - restMs) / SAMPLES;
}

const keepHistory = (isEnabled: boolean): Promise<void> =>
  host.post('/config', { updates: { dumb: { metrics: { history_enabled: isEnabled } } } });

const history = { history_enabled: false, history_interval_sec: APART_MS / 1_000 };
const place = await makePlace({ ...sleepers(SERVICES), dumb: { metrics: history } });
const steps = path.join(place.configDir, 'plugins', 'steps');
await mkdir(steps, { recursive: true });
await writeFile(path.join(steps, 'index.js'), STEPS_PLUGIN);
const host = await startBuilt(place, [], true);
try {
  for (let index = 0; index < SERVICES; index += 1)
    await host.post('/process/start-service', { process_name: `Sleeper ${index}` });
  const url = `ws://127.0.0.1:${place.port}/ws/metrics?interval=${APART_MS / 1_000}`;
  await listen(url, WARM_UP_SAMPLES);
  const byStep: Steps[] = [];
  const sent: number[] = [];
  const kept: number[] = [];
  const plain: number[] = [];
  host.restMeter();
  for (let round = 0; round < ROUNDS; round += 1) {
    const restMs = await cpuMsDuring(host.pid, () => delay(SAMPLES * APART_MS));
    byStep.push(await host.get<Steps>('/steps'));
    sent.push(await spentOnSamples(restMs, () => listen(url)));
    await keepHistory(true);
    kept.push(await spentOnSamples(restMs, () => delay(SAMPLES * APART_MS)));
    await keepHistory(false);
    plain.push(plainMs());
  }
  const all = readdirSync('/proc').filter(name => /^\d+$/.test(name)).length;
  const print = (name: string, runs: readonly number[], baseline: readonly number[] = [0]): void =>
    printFigure({ name: `metrics: ${name}`, unit: 'ms of CPU', runs, baseline });
  print(
    `a sample of ${SERVICES} processes, of ${all}`,
    byStep.map(({ sampleMs }) => sampleMs),
    plain,
  );
  print(
    'its text for clients',
    byStep.map(({ textMs }) => textMs),
  );
  print(
    'its text for the history',
    byStep.map(({ keptMs }) => keptMs),
  );
  print('a sample that is sent to a client, in all', sent);
  print('a sample that is written to the history, in all', kept);
  await host.longestPauseMs();
  await listen(url);
  printFigure({ name: 'metrics: longest pause', unit: 'ms', runs: [await host.longestPauseMs()], baseline: [0] });
} finally {
  await host.end('SIGTERM');
  await place.remove();
}
