// Seven days of samples of 15 managed and 20 other processes: how long a chart of any window takes, the first time and
// afterwards, all samples as a stream, and an import, with the longest pause of the event loop and the processor time of
// the host; then the same with ten times the history. The baseline of a chart is the shortest window, that of the stream
// a plain copy of the same bytes by bare node:http.
import { once } from 'node:events';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import Database from 'better-sqlite3';
import type { SqliteDatabase } from '../../core/contract/database.ts';
import * as statements from '../../plugins/metrics-history/history-statements.ts';
import { cpuMs, makePlace, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const DAY_S = 86_400;
const DAYS = 7;
const INTERVAL_S = 5;
const RUNS = 7;
const WINDOWS_H = [1, 6, 24, 72, 168];
const CHUNK = 500;
/** Newest samples of the answer of `GET /metrics/history`. */
const LISTED = 50_000;
/** Of the whole history and the tenfold one. */
const CAP_MB = 100;

/** The same numbers in each run. */
function numbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** A day of samples of 15 managed and 20 other processes, whose numbers move as those of a quiet machine do. */
function* dayOfSamples(start: number): Generator<string> {
  const random = numbers();
  const below = (limit: number): number => Math.floor(random() * limit);
  const processes = Array.from({ length: 35 }, (_, index) => ({
    name: `Service ${index}`,
    pid: 1_000 + index * 7,
    rss: (12_000 + index * 1_000) * 4_096,
    read: 0,
    written: 0,
  }));
  const total = { read: 0, written: 0, sent: 0, received: 0 };
  const usage = (entry: (typeof processes)[number]) => {
    entry.rss += (below(21) - 10) * 4_096;
    entry.read += random() < 0.3 ? below(10) * 4_096 : 0;
    entry.written += random() < 0.3 ? below(10) * 4_096 : 0;
    return {
      name: entry.name,
      pid: entry.pid,
      cpu_percent: below(20) / 10,
      rss: entry.rss,
      vms: 900_000_000 + entry.pid * 4_096,
      threads: 12,
      disk_io: { read_bytes: entry.read, write_bytes: entry.written, read_count: 7, write_count: 9 },
    };
  };
  for (let at = 0; at < DAY_S; at += INTERVAL_S) {
    total.read += below(1_000_000);
    total.written += below(1_000_000);
    total.sent += below(100_000);
    total.received += below(100_000);
    const counters = { sent_bytes: total.sent, recv_bytes: total.received, errors_in: 0, errors_out: 0 };
    const fileSystem = { path: '/', mount_point: '/', fs_type: 'ext4', available: true, percent: 22.9 };
    const inode = { total: 16_777_216, used: 505_074, free: 16_272_142, percent: 3, path: '/' };
    yield JSON.stringify({
      timestamp: start + at + below(1_000) / 1_000,
      system: {
        scope: 'host',
        cpu_percent: below(1_000) / 10,
        cpu_count: 4,
        load_avg: [below(100) / 100, 0.5, 0.4],
        mem: { used: 10_000_000_000 + below(20_000) * 4_096, total: 25_000_000_000, percent: 40 + below(10) / 10 },
        swap: { used: 0, total: 0, percent: 0 },
        disk: fileSystem,
        inode,
        filesystems: [{ ...fileSystem, inode }],
        disk_io: { read_bytes: total.read, write_bytes: total.written, read_count: 0, write_count: 0 },
        net_io: counters,
        network_interfaces: [
          { name: 'eth0', available: true, is_up: true, speed_mbps: 1_000, mtu: 1_500, ...counters },
        ],
        boot_time: start - DAY_S,
        container_start_time: start - DAY_S,
      },
      dumb_managed: processes.slice(0, 15).map(entry => ({ ...usage(entry), start_time: start, process_count: 1 })),
      external: processes.slice(15).map(entry => ({ ...usage(entry), container_id: null })),
    });
  }
}

/** Writes a day as the host does, and repeats its rows for the days before. */
function fill(file: string, days: number, end: number): number {
  const db = new Database(file) as unknown as SqliteDatabase & { close(): void };
  db.pragma('page_size = 16384');
  db.pragma('auto_vacuum = INCREMENTAL');
  db.pragma('journal_mode = WAL');
  for (const migration of statements.migrations) if (typeof migration === 'string') db.exec(migration);
  db.pragma(`user_version = ${statements.migrations.length}`);
  const startedMs = performance.now();
  let batch: string[] = [];
  for (const text of dayOfSamples(end - DAY_S)) {
    batch.push(text);
    if (batch.length < CHUNK) continue;
    statements.write(db, batch);
    batch = [];
  }
  statements.write(db, batch);
  const sampleMs = (performance.now() - startedMs) / (DAY_S / INTERVAL_S);
  for (let day = 1; day < days; day += 1) repeat(db, day, end);
  db.exec(`UPDATE metrics_metadata SET value = (SELECT count(*) FROM metrics_snapshots) WHERE key = 'samples';
    UPDATE metrics_metadata SET value = (SELECT sum(stored_size) FROM metrics_snapshots) WHERE key = 'compressed_bytes'`);
  const limits = { now: end, maxAgeDays: null, maxBytes: (CAP_MB * 1_000_000 * days) / DAYS };
  while (statements.maintain(db, limits));
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  return sampleMs;
}

function repeat(db: SqliteDatabase, day: number, end: number): void {
  const shift = day * DAY_S;
  const from = end - DAY_S;
  db.prepare(
    `INSERT INTO metrics_snapshots (timestamp, payload, raw_size, stored_size, created_at, codec, dict_id, item)
     SELECT timestamp - ?, payload, raw_size, stored_size, created_at, codec, dict_id, item FROM metrics_snapshots WHERE timestamp >= ?`,
  ).run(shift, from);
  db.prepare(
    `INSERT INTO metrics_points SELECT at_ms - ?, cpu, mem, disk, inode, disk_read, disk_written, net_sent, net_received, parts
     FROM metrics_points WHERE at_ms >= ?`,
  ).run(shift * 1_000, from * 1_000);
}

interface Timed {
  readonly firstByteMs: number;
  readonly wholeMs: number;
  readonly bytes: number;
}

async function read(url: string): Promise<Timed> {
  const startedMs = performance.now();
  const answer = await fetch(url);
  if (!answer.ok || answer.body === null) throw new Error(`${url} answers ${answer.status}`);
  let bytes = 0;
  let firstByteMs: number | undefined;
  for await (const chunk of answer.body) {
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

/** Sends as many bytes as the host did, as fast as Node can. */
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
    server.close();
  }
}

async function measure(days: number): Promise<void> {
  const name = (figure: string): string => `metrics-history ${days} d ${figure}`;
  const storage = { migrate_jsonl: false };
  const place = await makePlace({ dumb: { metrics: { history_retention_days: 0, history_max_total_mb: 0, storage } } });
  const file = path.join(place.configDir, 'metrics', 'metrics.sqlite');
  await mkdir(path.dirname(file), { mode: 0o700 });
  const end = Math.floor(Date.now() / 1_000);
  const sampleMs = fill(file, days, end);
  const { size } = await stat(file);
  const host = await startBuilt(place, [], true);
  try {
    if (days === DAYS) {
      printFigure({ name: name('one sample written'), unit: 'ms', runs: [sampleMs], baseline: [0] });
      printFigure({ name: name('file'), unit: 'MB', runs: [size / 1_000_000], baseline: [0] });
    }
    let shortest: number[] | undefined;
    for (const hours of WINDOWS_H) {
      const since = end - hours * 3_600;
      // Each run asks for another second, so that none gets the answer of the one before.
      const runs: number[] = [];
      await host.longestPauseMs();
      const first = await read(
        `${host.base}/metrics/history_series?since=${since - 60}&max_points=600&bucket_seconds=5`,
      );
      printFigure({ name: name(`first chart of ${hours} h`), unit: 'ms', runs: [first.wholeMs], baseline: [0] });
      const beforeMs = await cpuMs(host.pid);
      for (let run = 0; run < RUNS; run += 1) {
        const query = `since=${since - run * 2.5}&limit=5000&max_points=600&bucket_seconds=5`;
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
