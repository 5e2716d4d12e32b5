// What the answers that screens and probes ask for cost the host at 5 to 500 running services: processor time for each
// request, against bare node:http giving the same bytes, and the longest pause of the event loop meanwhile.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import autocannon from 'autocannon';
import { until } from '../support/until.ts';
import { type BareServer, startBareServer } from './support/bare-server.ts';
import { type BuiltHost, cpuMs, makePlace, type Place, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const SIZES = [5, 50, 200, 500];
const RUNS = 5;
const REQUESTS = 400;
const WARM_UP_REQUESTS = 800;
const CONNECTIONS = 20;
const BOOT_MS = 900_000;
const MS_PER_S = 1_000;
const LOG_BYTES = 50_000_000;
const LOG_LINE = 'Jan 2, 2026 03:04:05 - INFO - Service 0 subprocess: something happened with an item of the library\n';
/** Each service needs the one whose number is a tenth of its own. */
const NEEDING_EACH = 10;

interface Row {
  readonly path: string;
  readonly body?: unknown;
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

/** Milliseconds of processor time for each request. */
async function costOf(server: BuiltHost | BareServer, row: Row, amount: number): Promise<number> {
  const beforeMs = await cpuMs(server.pid);
  const { non2xx, errors } = await autocannon({
    url: server.base + row.path,
    connections: CONNECTIONS,
    amount,
    ...(row.body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(row.body) }),
  });
  if (non2xx + errors > 0) throw new Error(`${non2xx} bad answers and ${errors} errors from ${row.path}`);
  return ((await cpuMs(server.pid)) - beforeMs) / amount;
}

/** Requests in a second of processor time, which is what a processor of its own would give. */
const rates = (costsMs: readonly number[]): number[] => costsMs.map(ms => MS_PER_S / ms);

async function compare(name: string, row: Row, host: BuiltHost, bare: BareServer): Promise<void> {
  for (const server of [bare, host]) await costOf(server, row, WARM_UP_REQUESTS);
  await host.longestPauseMs();
  const costs: number[] = [];
  const bareCosts: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    bareCosts.push(await costOf(bare, row, REQUESTS));
    costs.push(await costOf(host, row, REQUESTS));
  }
  printFigure({ name, unit: 'requests/s of processor time', runs: rates(costs), baseline: rates(bareCosts) });
  printFigure({ name, unit: 'ms, longest pause', runs: [await host.longestPauseMs()], baseline: [0] });
}

/** Those rows and sizes that are named on the command line, or all. */
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
    for (const name of wanted(Object.keys(rows))) {
      const row = rows[name];
      if (row !== undefined) await compare(`${name}-${size}`, row, host, bare);
    }
  } finally {
    await bare.end();
    await host.end('SIGTERM');
    await place.remove();
  }
}
