// The statements of the ledger of changes, which run in the thread of its database. Times are Unix seconds.
import type { Migration, SqliteDatabase } from '#core';
import { prepared } from '#kit/prepared-statement';

const MAX_AGE_S = 180 * 86_400;
const MAX_ROWS = 20_000;

export interface LedgerRow {
  readonly id: number;
  readonly at: number;
  /** null for an event that concerns no single process. */
  readonly process_name: string | null;
  readonly event_type: string;
  readonly source: string;
  readonly actor: string | null;
  readonly summary: string;
  readonly details_json: string;
}

export type NewLedgerRow = Omit<LedgerRow, 'id'>;

/** The schema of an earlier program, whose file is used as it is. */
export const migrations: readonly Migration[] = [
  `CREATE TABLE IF NOT EXISTS diagnostic_events (
     id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, process_name TEXT, event_type TEXT NOT NULL,
     source TEXT NOT NULL, actor TEXT, summary TEXT NOT NULL, details_json TEXT NOT NULL);
   CREATE INDEX IF NOT EXISTS ix_diagnostic_events_process_at ON diagnostic_events (process_name, at);`,
];

export function add(db: SqliteDatabase, row: NewLedgerRow): void {
  const { at, process_name, event_type, source, actor, summary, details_json } = row;
  prepared(
    db,
    `INSERT INTO diagnostic_events (at, process_name, event_type, source, actor, summary, details_json)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ).run(at, process_name, event_type, source, actor, summary, details_json);
}

export interface LedgerQuery {
  /** Events of this process, and those that concern no single process; null for all events. */
  readonly processName: string | null;
  readonly from: number;
  readonly before: number;
  readonly limit: number;
  /** null for every type. */
  readonly eventType: string | null;
}

/** Lists events, the newest first. */
export function list(db: SqliteDatabase, query: LedgerQuery): LedgerRow[] {
  const { processName, from, before, limit, eventType } = query;
  return prepared(
    db,
    `SELECT id, at, process_name, event_type, source, actor, summary, details_json FROM diagnostic_events
     WHERE at >= ? AND at < ? AND (? IS NULL OR process_name IS NULL OR process_name = ?)
       AND (? IS NULL OR event_type = ?)
     ORDER BY at DESC, id DESC LIMIT ?`,
  ).all(from, before, processName, processName, eventType, eventType, limit) as LedgerRow[];
}

/** Removes rows that are too old or too many, and gives their number. */
export function prune(db: SqliteDatabase, { now }: { readonly now: number }): number {
  const old = prepared(db, 'DELETE FROM diagnostic_events WHERE at < ?').run(now - MAX_AGE_S).changes;
  const beyond = prepared(db, 'SELECT id FROM diagnostic_events ORDER BY id DESC LIMIT 1 OFFSET ?')
    .pluck()
    .get(MAX_ROWS) as number | undefined;
  if (beyond === undefined) return old;
  return old + prepared(db, 'DELETE FROM diagnostic_events WHERE id <= ?').run(beyond).changes;
}
