// The processor time of answers that screens and health probes request, with 5 to 500 running services, against bare
// node:http with the same bytes, and the longest pause of the event loop meanwhile. Then the cost of 100 clients of the
// status stream, against one client.
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import autocannon from 'autocannon';
import { WebSocket } from 'ws';
import { until } from '../support/until.ts';
import { type BareServer, startBareServer } from './support/bare-server.ts';
import { type BuiltHost, cpuMs, makePlace, type Place, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const SIZES = [5, 50, 200, 500];
const RUNS = 11;
const REQUESTS = 300;
const WARM_UP_RUNS = 5;
const CONNECTIONS = 10;
const STREAM_CLIENTS = 100;
const STREAM_MS = 10_000;
/** A connection may have to wait long on a loaded machine. */
const TIMEOUT_S = 60;
const BOOT_MS = 900_000;
const MS_PER_S = 1_000;
const LOG_BYTES = 50_000_000;
const LOG_LINE = 'Jan 2, 2026 03:04:05 - INFO - Service 0 subprocess: something happened with an item of the library\n';
/** Each service depends on the one whose number is a tenth of its own. */
const NEEDING_EACH = 10;

interface Row {
  readonly path: string;
  /** A request body, in which `[<id>]` becomes another text in each request. */
  readonly body?: unknown;
  /** The number of requests in a run. Default: 300. */
  readonly requests?: number;
}

const query = 'process_name=Service%201';
const rows: Readonly<Record<string, Row>> = {
  health: { path: '/health' },
  capabilities: { path: '/process/capabilities' },
  status: { path: `/process/service-status?${query}` },
  'status-with-health': { path: `/process/service-status?${query}&include_health=true` },
  process: { path: `/process?${query}` },
  list: { path: '/process/processes' },
  config: { path: '/config' },
  graph: { path: `/process/dependency-graph?${query}` },
  log: { path: `/logs?${query}` },
  'service-file': { path: '/config/service-config', body: { service_name: 'Service 1' } },
  save: { path: '/config', body: { updates: { service_2: { env: { NOTE: '[<id>]' } } } }, requests: 10 },
};

/** The second service has a log of 50 MB, and a file of its own. */
async function makeServices(count: number): Promise<Place> {
  const place = await makePlace(configDir => {
    const own = { config_file: fileOf(configDir), log_file: logOf(configDir) };
    const blocks = Array.from({ length: count }, (_, index) => [
      `service_${index}`,
      {
        enabled: true,
        process_name: `Service ${index}`,
        command: ['sleep', '86400'],
        config_dir: '/',
        ...(index === 0 ? {} : { core_service: `Service ${Math.floor(index / NEEDING_EACH)}` }),
        ...(index === 1 ? own : {}),
      },
    ]);
    const startup = { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 };
    return { ...Object.fromEntries(blocks), dumb: { startup, log_size: '1G' } };
  });
  const [file, log] = [fileOf(place.configDir), logOf(place.configDir)];
  const settings = Array.from({ length: 100 }, (_, index) => [`setting_${index}`, { value: `text ${index}` }]);
  await mkdir(path.dirname(file));
  await mkdir(path.dirname(log), { recursive: true });
  await writeFile(file, JSON.stringify(Object.fromEntries(settings), null, 2));
  await writeFile(log, LOG_LINE.repeat(LOG_BYTES / LOG_LINE.length));
  return place;
}

function fileOf(configDir: string): string {
  return path.join(configDir, 'service-1', 'settings.json');
}

function logOf(configDir: string): string {
  return path.join(configDir, 'log', 'service-1.log');
}

/** Milliseconds of processor time per request. */
async function costOf(server: BuiltHost | BareServer, row: Row, amount: number): Promise<number> {
  const beforeMs = await cpuMs(server.pid);
  const { non2xx, errors } = await autocannon({
    url: server.base + row.path,
    connections: CONNECTIONS,
    timeout: TIMEOUT_S,
    amount,
    ...(row.body === undefined
      ? {}
      : {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(row.body),
          idReplacement: true,
        }),
  });
  if (non2xx + errors > 0) throw new Error(`${non2xx} bad answers and ${errors} errors from ${row.path}`);
  return ((await cpuMs(server.pid)) - beforeMs) / amount;
}

/** Requests per second of processor time, as if the server had a core of its own. */
const rates = (costsMs: readonly number[]): number[] => costsMs.map(ms => MS_PER_S / ms);

async function compare(name: string, row: Row, host: BuiltHost, bare: BareServer): Promise<void> {
  const { requests = REQUESTS } = row;
  for (const server of [bare, host]) await costOf(server, row, requests * WARM_UP_RUNS);
  await host.longestPauseMs();
  const costs: number[] = [];
  const bareCosts: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    bareCosts.push(await costOf(bare, row, requests));
    costs.push(await costOf(host, row, requests));
  }
  printFigure({ name, unit: 'requests/s of processor time', runs: rates(costs), baseline: rates(bareCosts) });
  printFigure({ name, unit: 'ms, longest pause', runs: [await host.longestPauseMs()], baseline: [0] });
}

/** Milliseconds of processor time per second while so many clients get a message twice a second. */
async function streamCost(host: BuiltHost, clients: number): Promise<number> {
  const url = `${host.base.replace('http', 'ws')}/ws/status?interval=0.5&health=true`;
  const sockets = Array.from({ length: clients }, () => new WebSocket(url));
  await Promise.all(sockets.map(socket => once(socket, 'message')));
  const beforeMs = await cpuMs(host.pid);
  const startedMs = performance.now();
  await delay(STREAM_MS);
  const cost = ((await cpuMs(host.pid)) - beforeMs) / ((performance.now() - startedMs) / MS_PER_S);
  for (const socket of sockets) socket.terminate();
  return cost;
}

/** The rows or sizes that are named on the command line; all when none is named. */
function wanted<Value extends string | number>(all: readonly Value[]): readonly Value[] {
  const named = all.filter(value => process.argv.slice(2).includes(String(value)));
  return named.length > 0 ? named : all;
}

for (const size of wanted(SIZES)) {
  const place = await makeServices(size);
  const host = await startBuilt(place, [], true);
  const bare = await startBareServer(host.base);
  try {
    const isUp = async (): Promise<boolean> =>
      (await host.get<{ terminal: boolean }>('/process/startup-status')).terminal;
    await until(isUp, { timeoutMs: BOOT_MS, intervalMs: 200 });
    for (const name of wanted([...Object.keys(rows), 'stream'])) {
      const row = rows[name];
      if (row !== undefined) await compare(`${name}-${size}`, row, host, bare);
      else {
        const [baseline, runs] = [[await streamCost(host, 1)], [await streamCost(host, STREAM_CLIENTS)]];
        printFigure({ name: `${name}-${size}`, unit: 'ms of processor time for each s', runs, baseline });
      }
    }
  } finally {
    await bare.end();
    await host.end('SIGTERM');
    await place.remove();
  }
}
