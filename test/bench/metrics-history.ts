// Charts, streams and imports of a week of samples from 15 managed and 20 other processes, and of ten times as much:
// the time of a chart for each window, at first and afterwards, of the first chart some seconds after a start, of all
// samples as a stream and of an import, with the longest pause of the event loop and the host's processor time. The
// baseline of a chart is the shortest window, that of the stream a copy of as many bytes by bare node:http. Answers
// stay compressed: unpacking takes the client longer than the host needs to make them.
import { once } from 'node:events';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cpuMs, makePlace, type Place, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';
import { DAY_S, dayOfSamples, fill } from './support/sample-days.ts';

const DAYS = 7;
const RUNS = 7;
/** How many starts are followed by a first chart, and how long after each. */
const STARTS = 5;
const LATER_MS = 6_000;
const WINDOWS_H = [1, 6, 24, 72, 168];
/** How many samples `GET /metrics/history` gives, newest first. */
const LISTED = 50_000;
/** The size limit of a week of history; ten weeks have ten times as much. */
const CAP_MB = 100;

interface Timed {
  readonly firstByteMs: number;
  readonly wholeMs: number;
  readonly bytes: number;
}

const agent = new Agent({ keepAlive: true });

async function read(url: string): Promise<Timed> {
  const startedMs = performance.now();
  const asked = get(url, { agent, headers: { 'accept-encoding': 'gzip' } });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  if (answer.statusCode !== 200) throw new Error(`${url} answers ${answer.statusCode}`);
  let bytes = 0;
  let firstByteMs: number | undefined;
  for await (const chunk of answer) {
    firstByteMs ??= performance.now() - startedMs;
    bytes += (chunk as Uint8Array).length;
  }
  return { firstByteMs: firstByteMs ?? 0, wholeMs: performance.now() - startedMs, bytes };
}

async function repeated(url: string): Promise<Timed[]> {
  const timed: Timed[] = [];
  for (let run = 0; run < RUNS; run += 1) timed.push(await read(url));
  return timed;
}

/** Reads as many bytes from a bare server that sends them as fast as Node can. */
async function copied(bytes: number): Promise<Timed> {
  const piece = Buffer.alloc(256 * 1_024, 'x');
  const server = createServer(async (_request, response) => {
    for (let left = bytes; left > 0; left -= piece.length)
      if (!response.write(left < piece.length ? piece.subarray(0, left) : piece))
        await new Promise(resolve => response.once('drain', resolve));
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await read(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    agent.destroy();
    server.close();
  }
}

/** The usual chart, asked for by a person who arrives some seconds after the start of the host. */
async function firstCharts(place: Place): Promise<number[]> {
  const runs: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    const host = await startBuilt(place);
    try {
      await delay(LATER_MS);
      const since = Math.floor(Date.now() / 1_000) - 6 * 3_600;
      const query = `since=${since}&max_points=600&bucket_seconds=5`;
      runs.push((await read(`${host.base}/metrics/history_series?${query}`)).wholeMs);
    } finally {
      await host.end('SIGTERM');
    }
  }
  return runs;
}

async function measure(days: number): Promise<void> {
  const name = (figure: string): string => `metrics-history ${days} d ${figure}`;
  const storage = { migrate_jsonl: false };
  const place = await makePlace({ dumb: { metrics: { history_retention_days: 0, history_max_total_mb: 0, storage } } });
  const file = path.join(place.configDir, 'metrics', 'metrics.sqlite');
  await mkdir(path.dirname(file), { mode: 0o700 });
  const end = Math.floor(Date.now() / 1_000);
  const sampleMs = fill(file, { days, end, capMb: (CAP_MB * days) / DAYS });
  const { size } = await stat(file);
  if (days === DAYS) {
    const runs = await firstCharts(place);
    printFigure({ name: name('first chart of 6 h, 6 s after a start'), unit: 'ms', runs, baseline: [0] });
  }
  const host = await startBuilt(place, [], true);
  try {
    if (days === DAYS) {
      printFigure({ name: name('one sample written'), unit: 'ms', runs: [sampleMs], baseline: [0] });
      printFigure({ name: name('file'), unit: 'MB', runs: [size / 1_000_000], baseline: [0] });
    }
    let shortest: number[] | undefined;
    for (const hours of WINDOWS_H) {
      // Frontends ask for the time until now.
      const sinceNow = (): number => Date.now() / 1_000 - hours * 3_600;
      const runs: number[] = [];
      await host.longestPauseMs();
      const first = await read(
        `${host.base}/metrics/history_series?since=${sinceNow()}&max_points=600&bucket_seconds=5`,
      );
      printFigure({ name: name(`first chart of ${hours} h`), unit: 'ms', runs: [first.wholeMs], baseline: [0] });
      const beforeMs = await cpuMs(host.pid);
      for (let run = 0; run < RUNS; run += 1) {
        // Each run asks for another start, so that no cached answer is used.
        const query = `since=${sinceNow() - (run + 1) * 2.5}&limit=5000&max_points=600&bucket_seconds=5`;
        runs.push((await read(`${host.base}/metrics/history_series?${query}`)).wholeMs);
      }
      const cpu = ((await cpuMs(host.pid)) - beforeMs) / RUNS;
      printFigure({ name: name(`chart of ${hours} h`), unit: 'ms of CPU', runs: [cpu], baseline: [0] });
      shortest ??= runs;
      printFigure({ name: name(`chart of ${hours} h`), unit: 'ms', runs, baseline: shortest });
      printFigure({ name: name(`pause during it`), unit: 'ms', runs: [await host.longestPauseMs()], baseline: [0] });
    }
    const beforeMs = await cpuMs(host.pid);
    const streamed = await repeated(`${host.base}/metrics/history?full=true&limit=${LISTED}`);
    const streamedMs = ((await cpuMs(host.pid)) - beforeMs) / RUNS;
    const bytes = streamed[0]?.bytes ?? 0;
    const plain = await copied(bytes);
    printFigure({
      name: name(`all samples, ${Math.round(bytes / 1_000_000)} MB`),
      unit: 'ms',
      runs: streamed.map(({ wholeMs }) => wholeMs),
      baseline: [plain.wholeMs],
    });
    printFigure({
      name: name('samples told'),
      unit: 'a second',
      runs: streamed.map(({ wholeMs }) => (LISTED / wholeMs) * 1_000),
      baseline: [0],
    });
    printFigure({ name: name('all samples'), unit: 'ms of CPU', runs: [streamedMs], baseline: [0] });
    const firstBytes = streamed.map(({ firstByteMs }) => firstByteMs);
    printFigure({ name: name('their first byte'), unit: 'ms', runs: firstBytes, baseline: [plain.firstByteMs] });
    printFigure({ name: name('pause during it'), unit: 'ms', runs: [await host.longestPauseMs()], baseline: [0] });
    if (days !== DAYS) return;
    const lines = [...dayOfSamples(end - days * 2 * DAY_S)];
    await writeFile(path.join(path.dirname(file), 'metrics-20260101-1.jsonl'), lines.join('\n'));
    const startedMs = performance.now();
    const cpuBeforeMs = await cpuMs(host.pid);
    await host.post('/metrics/history/migrate?force=true', {});
    const importMs = performance.now() - startedMs;
    const cpu = ((await cpuMs(host.pid)) - cpuBeforeMs) / lines.length;
    printFigure({ name: name(`import of ${lines.length} lines`), unit: 'ms', runs: [importMs], baseline: [0] });
    printFigure({ name: name('a line of it'), unit: 'ms of CPU', runs: [cpu], baseline: [0] });
    printFigure({ name: name('pause during it'), unit: 'ms', runs: [await host.longestPauseMs()], baseline: [0] });
  } finally {
    await host.end('SIGTERM');
    await place.remove();
  }
}

await measure(DAYS);
await measure(DAYS * 10);
