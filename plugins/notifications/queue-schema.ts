// The tables of the queue. The first columns are those of an earlier program, whose file is used as it is found.
import type { Migration, SqliteDatabase } from '#core';

/** Columns that a file of the earlier program lacks. */
const ADDED = ['claimed_by TEXT', 'claimed_at REAL', 'single_attempt INTEGER NOT NULL DEFAULT 0'];

function addColumns(db: SqliteDatabase): void {
  const present = db.prepare("SELECT name FROM pragma_table_info('deliveries')").pluck().all();
  for (const column of ADDED)
    if (!present.includes(column.split(' ')[0])) db.exec(`ALTER TABLE deliveries ADD COLUMN ${column}`);
}

export const migrations: readonly Migration[] = [
  `CREATE TABLE IF NOT EXISTS deliveries (
     id TEXT PRIMARY KEY, event_id TEXT NOT NULL, destination_id TEXT NOT NULL, destination_name TEXT NOT NULL,
     event_type TEXT NOT NULL, severity TEXT NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL, service_name TEXT,
     status TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, bypass_enabled INTEGER NOT NULL DEFAULT 0,
     bypass_destination_enabled INTEGER NOT NULL DEFAULT 0, next_attempt_at REAL NOT NULL, error TEXT,
     metadata_json TEXT NOT NULL DEFAULT '{}', created_at REAL NOT NULL, updated_at REAL NOT NULL, sent_at REAL);
   CREATE INDEX IF NOT EXISTS idx_deliveries_status_next ON deliveries (status, next_attempt_at);
   CREATE INDEX IF NOT EXISTS idx_deliveries_created ON deliveries (created_at DESC);
   CREATE TABLE IF NOT EXISTS delivery_state (
     state_key TEXT PRIMARY KEY, active INTEGER NOT NULL DEFAULT 0, last_sent_at REAL, last_value TEXT,
     updated_at REAL NOT NULL);`,
  addColumns,
  `CREATE INDEX deliveries_pending ON deliveries (destination_id, created_at) WHERE status IN ('queued', 'retrying');
   CREATE INDEX deliveries_claimed ON deliveries (claimed_by) WHERE claimed_by IS NOT NULL;`,
  'ALTER TABLE deliveries ADD COLUMN reached TEXT',
];
