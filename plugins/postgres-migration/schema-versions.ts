// Tells whether the tables that a program has just made fit the rows that it has in SQLite, by the versions of its
// schema that it has noted in either.
import type { MigrationService } from './contract.ts';
import { MigrationFault } from './migration-fault.ts';

/** Gives a warning. Throws a MigrationFault where the rows of the one do not fit the tables of the other. */
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
