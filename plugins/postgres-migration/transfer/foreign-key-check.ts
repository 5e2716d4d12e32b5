// Looks for rows that refer to a missing row, because foreign keys are not enforced during the import.
import { quoted, type TablePlan } from './column-plan.ts';
import type { Source } from './source.ts';
import type { Target } from './target.ts';
import { type ForeignKey, readForeignKeys } from './target-schema.ts';
import type { DatabasePair } from './task.ts';
import { faultIn, shown } from './transfer-fault.ts';

export interface CheckedDatabase {
  readonly pair: DatabasePair;
  readonly target: Target;
  readonly source: Source;
  readonly plans: readonly TablePlan[];
}

/** Gives the number of foreign keys. Rejects with a TransferFault when one does not hold, with the row in SQLite. */
export async function checkForeignKeys(database: CheckedDatabase): Promise<number> {
  const { target, pair } = database;
  const keys = (await readForeignKeys(target)).filter(({ table }) => !pair.leftOut.includes(table));
  for (const key of keys) await checkForeignKey(database, key);
  return keys.length;
}

async function checkForeignKey(
  { target, source, plans, pair: { label } }: CheckedDatabase,
  { name, table, parent, columns, isFull }: ForeignKey,
): Promise<void> {
  const each = (make: (child: string, parent: string) => string, word: string): string =>
    columns.map(([child, other]) => make(`c.${quoted(child)}`, `p.${quoted(other)}`)).join(word);
  const matched = `EXISTS (SELECT FROM ${quoted(parent)} p WHERE ${each((child, other) => `${other} = ${child}`, ' AND ')})`;
  const none = each(child => `${child} IS NULL`, isFull ? ' AND ' : ' OR ');
  const texts = each(child => `${child}::text`, ', ');
  const orphan = `SELECT ARRAY[${texts}] AS texts FROM ${quoted(table)} c WHERE NOT (${none}) AND NOT ${matched} LIMIT 1`;
  const [row] = await target.query<{ texts: (string | null)[] }>(orphan);
  if (row === undefined) return;
  const plan = plans.find(one => one.table === table);
  const values = columns.map(([column], index) => ({ column, text: row.texts[index] ?? '' }));
  const rowid = plan && (await source.rowidOf(plan, values));
  const [[column = ''] = []] = columns;
  throw faultIn(
    {
      code: 'transfer.validation',
      stage: 'validation',
      label,
      table,
      column,
      rule: 'foreign_key',
      ...(rowid === undefined ? {} : { rowid }),
    },
    `the row refers to one of the table ${shown(parent)} that does not exist (constraint ${shown(name)}); mend or remove it in the application`,
  );
}
