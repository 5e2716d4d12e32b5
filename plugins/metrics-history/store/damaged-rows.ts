// The times of rows that turned out to be damaged when they were read, so that they do not count for the limit of
// later answers. To look for them beforehand would cost half as much as the answer.
import type { SqliteDatabase } from '#core';

/** As many as one answer may have samples. */
const MAX_KNOWN = 50_000;

const known = new WeakMap<SqliteDatabase, Set<number>>();

export function damagedTimes(db: SqliteDatabase): ReadonlySet<number> {
  return timesOf(db);
}

export function noteDamaged(db: SqliteDatabase, timestamp: number): void {
  const times = timesOf(db);
  if (times.size < MAX_KNOWN) times.add(timestamp);
}

/** Called when a row is written in the place of any that had this time. */
export function forgetDamaged(db: SqliteDatabase, timestamp: number): void {
  known.get(db)?.delete(timestamp);
}

function timesOf(db: SqliteDatabase): Set<number> {
  const times = known.get(db) ?? new Set();
  known.set(db, times);
  return times;
}
