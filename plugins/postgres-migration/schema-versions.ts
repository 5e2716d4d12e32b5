// Tells whether the new tables in PostgreSQL fit the rows in SQLite, by the schema versions that the program has
// recorded in both.
import type { MigrationService } from './contract.ts';
import { MigrationFault } from './migration-fault.ts';

/**
 * Gives a warning, if there is one. Throws a MigrationFault when the rows in SQLite do not fit the tables in
 * PostgreSQL.
 */
export function compareVersions(
  { versions: { common = 'highest' } }: MigrationService,
  inSqlite: readonly string[],
  inPostgres: readonly string[],
): string | undefined {
  if (common === 'nothing') return undefined;
  const alone = inSqlite.filter(version => !inPostgres.includes(version));
  const isAll = common === 'all';
  const [old, made] = [highest(inSqlite), highest(inPostgres)];
  if (isAll ? inPostgres.some(version => !inSqlite.includes(version)) : old < made)
    throw fault(
      'the SQLite database is older than the program; start the service once on SQLite, so that it finishes its own update',
    );
  if (isAll ? alone.length > 0 : old > made)
    throw fault('the installed program is older than its data; update it first');
  return alone.length === 0 ? undefined : `${alone.length} versions of the tables are noted in SQLite alone`;
}

function fault(message: string): MigrationFault {
  return new MigrationFault('schema', 'migration.schema', message);
}

function highest(versions: readonly string[]): bigint {
  const numbers = versions.filter(version => /^\d+$/.test(version)).map(BigInt);
  return numbers.sort((a, b) => (a < b ? -1 : Number(a > b))).at(-1) ?? -1n;
}
