// Replication of 20,000 requests from a primary to five subordinates that have them all: a read of the whole list, a
// cycle without changes, and 200 new requests. Measures calls, against the least possible number, time, processor time,
// memory and the longest pause of the event loop. The baseline of the time is a bare loop that fetches and parses the
// same pages.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stateFrom } from '../../plugins/request-sync/state.ts';
import { stateText } from '../../plugins/request-sync/state-text.ts';
import { cpuMs, makePlace, residentMegabytes, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';
import { type RequestManagers, startRequestManagers, type Traffic } from './support/request-managers.ts';

const REQUESTS = 20_000;
const SUBORDINATES = 5;
const ADDED = 200;
const PAGE_LENGTH = 100;
/** The shortest interval that the configuration allows. */
const POLL_INTERVAL_S = 10;
/** The pause of the sync between two writes to one manager. */
const WRITE_PAUSE_MS = 50;
const RUNS = 3;
/** How long the host still works after its start, which can hold the event loop. */
const REST_OF_START_MS = 5_000;
const STATE_FILE = 'seerr_sync_state.json';

const figure = (name: string, unit: string, runs: readonly number[], baseline: readonly number[] = [0]): void =>
  printFigure({ name: `request sync: ${name}`, unit, runs, baseline });
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The state file of a host that has replicated everything before. */
async function stateOf(urls: readonly string[]): Promise<string> {
  const now = '2026-01-01T00:00:00Z';
  const requests = Array.from({ length: REQUESTS }, (_, index) => {
    const id = index + 1;
    const isSeries = index % 3 === 0;
    const seasons = isSeries ? { seasons: [1, 2] } : {};
    const held = { id, status: 2, synced_at: now, ids: [id], ...seasons };
    const subordinates = Object.fromEntries(urls.slice(1).map(url => [url, held]));
    return [
      `${isSeries ? 'tv' : 'movie'}:${id}:False`,
      { primary_id: id, primary_ids: [id], ...seasons, subordinates },
    ];
  });
  const state = await stateFrom({ last_poll_ts: null, requests: Object.fromEntries(requests), failed: {} });
  return [...stateText(state)].join('');
}

async function readAllPages({ urls: [url], apiKeys: [apiKey = ''] }: RequestManagers): Promise<void> {
  for (let skip = 0; skip < REQUESTS; skip += PAGE_LENGTH) {
    const address = `${url}/api/v1/request?take=${PAGE_LENGTH}&skip=${skip}&sort=added`;
    const answer = await fetch(address, { headers: { 'x-api-key': apiKey } });
    await answer.json();
  }
}

/**
 * The traffic of one cycle: resolves when each manager has had its least number of calls, and no more have come for a
 * second.
 */
async function traffic(managers: RequestManagers, least: readonly number[]): Promise<Traffic> {
  let last = 0;
  for (;;) {
    await delay(1_000);
    const { calls } = await managers.traffic();
    const isOver = calls.every((count, index) => count >= (least[index] ?? 0)) && sum(calls) === last;
    if (isOver) return managers.traffic(true);
    last = sum(calls);
  }
}

const managers = await startRequestManagers(REQUESTS, SUBORDINATES);
const bareMs: number[] = [];
const bareCpuMs: number[] = [];
for (let run = 0; run < RUNS; run += 1) {
  const startedMs = performance.now();
  const startedCpu = process.cpuUsage();
  await readAllPages(managers);
  bareMs.push(performance.now() - startedMs);
  const { user, system } = process.cpuUsage(startedCpu);
  bareCpuMs.push((user + system) / 1_000);
}
await managers.traffic(true);

const entries = managers.urls.map((url, index) => ({ url, api_key: managers.apiKeys[index] }));
const [primary, ...subordinates] = entries;
const settings = {
  enabled: false,
  poll_interval_seconds: POLL_INTERVAL_S,
  external_primary: { enabled: true, ...primary },
  external_subordinates: subordinates,
};
const place = await makePlace({ seerr_sync: settings });
await writeFile(path.join(place.configDir, STATE_FILE), await stateOf(managers.urls), { mode: 0o600 });
const host = await startBuilt(place, [], true);
try {
  const restMb = await residentMegabytes(host.pid);
  const pages = REQUESTS / PAGE_LENGTH;
  await delay(REST_OF_START_MS);
  await host.longestPauseMs();
  await host.post('/config', { updates: { seerr_sync: { enabled: true } }, persist: false });
  await traffic(managers, [1 + pages]);
  figure('longest pause of the first cycle, which reads the state', 'ms', [await host.longestPauseMs()]);

  const readingMs: number[] = [];
  const readingCpuMs: number[] = [];
  const readingPausesMs: number[] = [];
  const readingCalls: number[] = [];
  for (let run = 1; run <= RUNS; run += 1) {
    await host.longestPauseMs();
    const startedCpuMs = await cpuMs(host.pid);
    // A changed option makes the next cycle read the whole list.
    const options = { retry_failed_after_hours: run };
    await host.post('/config', { updates: { seerr_sync: { options } }, persist: false });
    const { calls, durationMs } = await traffic(managers, [1 + pages]);
    readingPausesMs.push(await host.longestPauseMs());
    readingCpuMs.push((await cpuMs(host.pid)) - startedCpuMs);
    readingMs.push(durationMs);
    readingCalls.push(sum(calls));
  }
  figure('whole list, 20,000 requests', 'ms', readingMs, bareMs);
  figure('processor time of it', 'ms', readingCpuMs, bareCpuMs);
  figure('longest pause in it', 'ms', readingPausesMs);
  figure('calls of it, against the least', 'calls', readingCalls, [1 + pages]);
  figure('memory after it', 'MB', [(await residentMegabytes(host.pid)) - restMb]);

  const quiet: Traffic[] = [];
  const quietCpuMs: number[] = [];
  const quietPausesMs: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    await host.longestPauseMs();
    const startedCpuMs = await cpuMs(host.pid);
    quiet.push(await traffic(managers, [2]));
    quietPausesMs.push(await host.longestPauseMs());
    quietCpuMs.push((await cpuMs(host.pid)) - startedCpuMs);
  }
  figure(
    'cycle without a change',
    'ms',
    quiet.map(({ durationMs }) => durationMs),
  );
  figure('processor time of it', 'ms', quietCpuMs);
  figure('longest pause in it', 'ms', quietPausesMs);
  figure(
    'calls of it, against the least',
    'calls',
    quiet.map(({ calls }) => sum(calls)),
    [2],
  );

  await host.longestPauseMs();
  await managers.ask(ADDED);
  const perSubordinate = 1 + 2 * ADDED;
  const added = await traffic(managers, [4, ...Array(SUBORDINATES).fill(perSubordinate)]);
  figure('200 new requests on five subordinates', 'ms', [added.durationMs], [ADDED * WRITE_PAUSE_MS]);
  figure('longest pause in it', 'ms', [await host.longestPauseMs()]);
  figure('calls of it, against the least', 'calls', [sum(added.calls)], [4 + SUBORDINATES * perSubordinate]);
  figure('writes of it, against the least', 'calls', [added.writes], [SUBORDINATES * ADDED]);
} finally {
  await host.end('SIGTERM');
  await managers.end();
  await place.remove();
}
