// Writes days of samples to the file of a metrics history, as the host does.
import Database from 'better-sqlite3';
import type { SqliteDatabase } from '../../../core/contract/database.ts';
import * as statements from '../../../plugins/metrics-history/history-statements.ts';

export const DAY_S = 86_400;
const INTERVAL_S = 5;
const MANAGED = 15;
const OTHERS = 20;
const CHUNK = 500;

/** Pseudo-random numbers, the same in each run. */
function numbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** A day of samples of managed and 20 other processes, with numbers that vary as on a quiet machine. */
export function* dayOfSamples(start: number, managed = MANAGED): Generator<string> {
  const random = numbers();
  const below = (limit: number): number => Math.floor(random() * limit);
  const processes = Array.from({ length: managed + OTHERS }, (_, index) => ({
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
      dumb_managed: processes
        .slice(0, managed)
        .map(entry => ({ ...usage(entry), start_time: start, process_count: 1 })),
      external: processes.slice(managed).map(entry => ({ ...usage(entry), container_id: null })),
    });
  }
}

/**
 * Writes a day as the host does, and copies its rows for the days before. Returns the milliseconds per sample. The
 * managed processes are called `Service 0` and so on.
 */
export function fill(
  file: string,
  { days, end, managed = MANAGED, capMb }: { days: number; end: number; managed?: number; capMb: number },
): number {
  const db = new Database(file) as unknown as SqliteDatabase & { close(): void };
  db.pragma('page_size = 16384');
  db.pragma('auto_vacuum = INCREMENTAL');
  db.pragma('journal_mode = WAL');
  for (const migration of statements.migrations) if (typeof migration === 'string') db.exec(migration);
  db.pragma(`user_version = ${statements.migrations.length}`);
  const startedMs = performance.now();
  let batch: string[] = [];
  for (const text of dayOfSamples(end - DAY_S, managed)) {
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
  const limits = { now: end, maxAgeDays: null, maxBytes: capMb * 1_000_000 };
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
