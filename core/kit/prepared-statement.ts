// Compiles statements that are run again and again once for each connection.
import type { SqliteDatabase, SqliteStatement } from '../contract/database.ts';

const compiled = new WeakMap<SqliteDatabase, Map<string, SqliteStatement>>();

export function prepared(db: SqliteDatabase, sql: string): SqliteStatement {
  const statements = compiled.get(db) ?? new Map<string, SqliteStatement>();
  compiled.set(db, statements);
  const known = statements.get(sql) ?? db.prepare(sql);
  statements.set(sql, known);
  return known;
}
