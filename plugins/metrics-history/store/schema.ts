// The tables of the history. The first two statements create the tables of an earlier program, whose file is used as it
// is found.
import type { Migration } from '#core';

export const migrations: readonly Migration[] = [
  `CREATE TABLE IF NOT EXISTS metrics_snapshots (
     timestamp REAL PRIMARY KEY, payload BLOB NOT NULL, raw_size INTEGER NOT NULL, stored_size INTEGER NOT NULL,
     created_at REAL NOT NULL);
   CREATE TABLE IF NOT EXISTS metrics_metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL);
   CREATE INDEX IF NOT EXISTS metrics_snapshots_created_at ON metrics_snapshots (created_at);
   ALTER TABLE metrics_snapshots ADD COLUMN codec INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE metrics_snapshots ADD COLUMN dict_id INTEGER;
   ALTER TABLE metrics_snapshots ADD COLUMN item BLOB;
   ALTER TABLE metrics_snapshots ADD COLUMN seq INTEGER;
   CREATE INDEX metrics_snapshots_seq ON metrics_snapshots (seq);
   CREATE TABLE metrics_dictionaries (id INTEGER PRIMARY KEY, item BLOB NOT NULL, whole BLOB NOT NULL);
   CREATE TABLE metrics_names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
   -- Percentages are in tenths, which are whole numbers.
   CREATE TABLE metrics_points (
     at_ms INTEGER PRIMARY KEY, cpu, mem, disk, inode, disk_read, disk_written, net_sent, net_received,
     parts TEXT NOT NULL);
   CREATE TABLE metrics_rollups (
     span_ms INTEGER NOT NULL, start_ms INTEGER NOT NULL, ranges TEXT NOT NULL, PRIMARY KEY (span_ms, start_ms)
   ) WITHOUT ROWID;
   INSERT OR REPLACE INTO metrics_metadata
     SELECT 'samples', count(*) FROM metrics_snapshots
     UNION ALL SELECT 'raw_bytes', coalesce(sum(raw_size), 0) FROM metrics_snapshots
     UNION ALL SELECT 'compressed_bytes', coalesce(sum(stored_size), 0) FROM metrics_snapshots
     UNION ALL SELECT 'unread_samples', count(*) FROM metrics_snapshots;`,
  // In a column without a type each number, which is bound as floating point, takes eight bytes.
  `ALTER TABLE metrics_points RENAME TO wide_points;
   CREATE TABLE metrics_points (
     at_ms INTEGER PRIMARY KEY, cpu NUMERIC, mem NUMERIC, disk NUMERIC, inode NUMERIC, disk_read NUMERIC,
     disk_written NUMERIC, net_sent NUMERIC, net_received NUMERIC, parts TEXT NOT NULL);
   INSERT INTO metrics_points SELECT * FROM wide_points;
   DROP TABLE wide_points;`,
  // No query uses the time at which a sample was written.
  `DROP INDEX IF EXISTS metrics_snapshots_created_at;
   CREATE TABLE metrics_blocks (
     before_s INTEGER NOT NULL, bucket_s INTEGER NOT NULL, head TEXT NOT NULL, piece BLOB NOT NULL,
     checksum INTEGER NOT NULL, PRIMARY KEY (before_s, bucket_s));`,
  // Interfaces of containers come and go, so names are removed: no point after `until_ms` has the name.
  `ALTER TABLE metrics_names ADD COLUMN until_ms INTEGER NOT NULL DEFAULT 0;
   UPDATE metrics_names SET until_ms = (SELECT coalesce(max(at_ms), 0) FROM metrics_points);`,
];
