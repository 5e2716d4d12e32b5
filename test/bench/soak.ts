// Memory and descriptors of a host under everyday load, for minutes or hours: 50 services that write, 100 clients of
// streams, requests of a frontend, and a history that is written twice a second. V8 lets garbage grow to several times
// the live memory before it collects, which takes an hour or more. With `--collect` the main thread's garbage is
// collected before each reading, so that a short run shows what stays. Example: `npm run bench -- soak --minutes 30`.
import { readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { makePlace, residentMegabytes, startBuilt } from './support/built-host.ts';

const SERVICES = 50;
const CLIENTS = 100;
const ROUND_MS = 5_000;
const STREAMS = ['/ws/status?health=true', '/ws/metrics?interval=2&bootstrap=true', '/ws/logs'];
const ROUTES = [
  '/process/processes',
  '/metrics',
  '/metrics/history_series',
  '/config',
  '/health',
  '/logs?process_name=Writer%200',
];
/** The first readings belong to the warm-up and not to the slope. */
const WARM_UP_SHARE = 0.25;
const TENTHS = 10;

interface Reading {
  readonly atHours: number;
  readonly megabytes: number;
  readonly descriptors: number;
}

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

/** The slope by least squares, in units per hour. */
function slope(readings: readonly Reading[], value: (reading: Reading) => number): number {
  const meanX = mean(readings.map(({ atHours }) => atHours));
  const meanY = mean(readings.map(value));
  let [above, below] = [0, 0];
  for (const reading of readings) {
    above += (reading.atHours - meanX) * (value(reading) - meanY);
    below += (reading.atHours - meanX) ** 2;
  }
  return below === 0 ? 0 : above / below;
}

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '2' }, collect: { type: 'boolean', default: false } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error('--minutes takes a number above 0');

const services = Object.fromEntries(
  Array.from({ length: SERVICES }, (_, index) => [
    `writer_${index}`,
    {
      enabled: true,
      process_name: `Writer ${index}`,
      command: ['sh', '-c', 'while :; do echo a line of output; sleep 1; done'],
      config_dir: '/',
    },
  ]),
);
const place = await makePlace({ ...services, dumb: { metrics: { history_interval_sec: 0.5 } } });
const host = await startBuilt(place, [], values.collect);
if (values.collect) host.restMeter();
const sockets = Array.from({ length: CLIENTS }, (_, index) => {
  const socket = new WebSocket(host.base.replace('http', 'ws') + (STREAMS[index % STREAMS.length] ?? ''));
  socket.on('message', () => undefined);
  return socket;
});
try {
  const readings: Reading[] = [];
  const startedMs = performance.now();
  for (let round = 0; performance.now() - startedMs < minutes * 60_000; round += 1) {
    await Promise.all(ROUTES.map(route => fetch(host.base + route).then(answer => answer.arrayBuffer())));
    await host.post('/process/restart-service', { process_name: `Writer ${round % SERVICES}` });
    if (values.collect) await host.collectGarbage();
    readings.push({
      atHours: (performance.now() - startedMs) / 3_600_000,
      megabytes: await residentMegabytes(host.pid),
      descriptors: (await readdir(`/proc/${host.pid}/fd`)).length,
    });
    await delay(ROUND_MS);
  }
  const parts = Array.from({ length: TENTHS }, (_, tenth) =>
    readings.slice((tenth * readings.length) / TENTHS, ((tenth + 1) * readings.length) / TENTHS),
  );
  const settled = readings.slice(Math.floor(readings.length * WARM_UP_SHARE));
  const last = settled.at(-1);
  console.log(
    JSON.stringify({
      name: 'soak',
      minutes,
      collected: values.collect,
      megabytes: Math.round(last?.megabytes ?? 0),
      'MB in each tenth': parts.map(part => Math.round(mean(part.map(({ megabytes }) => megabytes)))),
      'MB an hour': Number(slope(settled, ({ megabytes }) => megabytes).toFixed(2)),
      descriptors: last?.descriptors,
      'descriptors an hour': Number(slope(settled, ({ descriptors }) => descriptors).toFixed(2)),
    }),
  );
} finally {
  for (const socket of sockets) socket.terminate();
  await host.end('SIGTERM');
  await place.remove();
}
