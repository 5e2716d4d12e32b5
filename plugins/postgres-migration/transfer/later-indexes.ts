// The indexes of a table that are built after its rows have come, by sorting, which costs the server a fraction of
// putting each row into each of them. Those whose rows could break a rule of theirs are not among them, because the
// server tells the place of a row only while it takes rows.
import { quoted } from './column-plan.ts';
import type { Target } from './target.ts';

/**
 * The server leaves an index alone that is neither ready nor valid, as one that is being built concurrently, and
 * `REINDEX` makes it both. All that belongs to an index stays, which to drop it would not leave. It is part of the
 * transaction that has emptied the table: nobody else sees the table meanwhile, and a failure leaves the index as it
 * was.
 */
const HOLD = `
  UPDATE pg_index SET indisready = false, indisvalid = false
  WHERE indrelid = $1::text::regclass AND indisready AND indisvalid AND NOT indisexclusion AND (NOT indisunique
    OR indnatts = 1 AND indexprs IS NULL AND indkey[0] = (
      SELECT attnum FROM pg_attribute WHERE attrelid = indrelid AND attname = $2::text))
  RETURNING indexrelid::regclass::text AS name`;

/**
 * `rowidColumn`: the one that stands for the row id of SQLite, which no two rows share. The names, as a statement has
 * them.
 */
export async function holdIndexes(target: Target, table: string, rowidColumn: string | null): Promise<string[]> {
  const held = await target.query<{ name: string }>(HOLD, [quoted(table), rowidColumn]);
  return held.map(({ name }) => name);
}

export async function buildIndexes(target: Target, names: readonly string[]): Promise<void> {
  for (const name of names) await target.query(`REINDEX INDEX ${name}`);
}
