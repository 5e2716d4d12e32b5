// Builds indexes of a table after its rows were copied, by sorting, which costs the server a fraction of inserting each
// row into each index. Indexes that a row could violate are not held back, because the server names the row only while
// it copies.
import { quoted } from './column-plan.ts';
import type { Target } from './target.ts';

/**
 * Marks indexes as neither ready nor valid, like those being built concurrently: the server does not write to them
 * until `REINDEX` makes them both again. Unlike a drop, this keeps everything that depends on an index. It is part of
 * the transaction that has truncated the table, so no other session sees the table meanwhile, and a failure leaves the
 * indexes as they were.
 */
const HOLD = `
  UPDATE pg_index SET indisready = false, indisvalid = false
  WHERE indrelid = $1::text::regclass AND indisready AND indisvalid AND NOT indisexclusion AND (NOT indisunique
    OR indnatts = 1 AND indexprs IS NULL AND indkey[0] = (
      SELECT attnum FROM pg_attribute WHERE attrelid = indrelid AND attname = $2::text))
  RETURNING indexrelid::regclass::text AS name`;

/**
 * Gives the names of the held indexes, quoted for a statement. `rowidColumn` is the column that stands for the row id
 * of SQLite; no two rows share a value of it, so its unique index cannot be violated.
 */
export async function holdIndexes(target: Target, table: string, rowidColumn: string | null): Promise<string[]> {
  const held = await target.query<{ name: string }>(HOLD, [quoted(table), rowidColumn]);
  return held.map(({ name }) => name);
}

export async function buildIndexes(target: Target, names: readonly string[]): Promise<void> {
  for (const name of names) await target.query(`REINDEX INDEX ${name}`);
}
