// Imports the rows of the SQLite copies into the databases made for them, and reports the progress in the job.

import type { JobResult } from './job.ts';
import type { LiveJob } from './live-job.ts';
import type { MigrationContext } from './migration-context.ts';
import { MigrationFault } from './migration-fault.ts';
import type { Subject } from './subject.ts';
import type { TransferProgress, TransferResult } from './transfer/task.ts';

/** How long the server may take for one statement; some read all rows of a table. */
const ANSWER_MS = 900_000;
/** First and last percentage of each stage. */
const PERCENT = { import: [36, 80], validation: [82, 92] } as const;

export interface DataImport {
  readonly subject: Subject;
  readonly live: LiveJob;
  /** Copies of the databases by label. Nothing writes to them. */
  readonly copies: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
}

/** Every row is validated when this resolves. Rejects with a MigrationFault. */
export async function importData(
  { server }: MigrationContext,
  { subject, live, copies, signal }: DataImport,
): Promise<TransferResult> {
  // Imported on use, because most hosts never move anything.
  const { runTransfer } = await import('./transfer/transfer.ts');
  const { TransferFault } = await import('./transfer/transfer-fault.ts');
  const { versions, bookkeeping = [] } = subject.service;
  const leftOut = [versions.table, ...bookkeeping];
  const databases = live.work.databases.flatMap(({ label, staging }) => {
    const file = copies.get(label);
    return file === undefined ? [] : [{ label, file, database: staging, leftOut }];
  });
  live.tell('import', PERCENT.import[0], 'The rows are copied');
  try {
    const task = { server: server.managed.access(), databases, user: subject.user, answerMs: ANSWER_MS };
    return await runTransfer(task, { signal, onProgress: progress => tell(live, progress) });
  } catch (error) {
    if (!(error instanceof TransferFault)) throw error;
    const { stage, code, table, column, rule, rowid, message } = error.fault;
    const details = { table, column, rule, rowid };
    live.tell(stage, PERCENT[stage][0], message, JSON.parse(JSON.stringify(details)));
    const place = { ...(table === undefined ? {} : { table }), ...(column === undefined ? {} : { column }) };
    throw new MigrationFault(stage, code, message, place);
  }
}

/** Adds one event for each table that is copied; other progress is only shown until the next report. */
function tell(live: LiveJob, { stage, label, table, rows, isTableDone, share }: TransferProgress): void {
  const [first, last] = PERCENT[stage];
  const percent = first + (last - first) * share;
  const verb = stage === 'import' ? 'copied' : 'validated';
  const details = { database: label, table, rows };
  if (isTableDone && stage === 'import') live.tell(stage, percent, `${table}: ${rows} rows ${verb}`, details);
  else live.refresh(stage, percent, `${table}: ${rows} rows ${verb} until now`, details);
}

/** The part of a job's result that comes from a validated transfer. */
export function importedToWire(
  transfer: TransferResult,
  targets: ReadonlyMap<string, string>,
  keyTables: readonly string[],
): Pick<JobResult, 'validated' | 'imports' | 'key_row_counts' | 'sanitized' | 'warnings'> {
  const imports = Object.fromEntries(
    transfer.imports.map(one => [
      one.label,
      {
        database: targets.get(one.label) ?? one.database,
        tables: one.tables,
        rows: one.rows,
        sequences_reset: one.sequencesReset,
        sequences_validated: one.sequencesValidated,
        foreign_keys_validated: one.foreignKeysValidated,
        primary_key_digests_validated: one.primaryKeyDigestsValidated,
        full_row_digests_validated: one.fullRowDigestsValidated,
        row_counts: Object.fromEntries(one.rowCounts.map(({ table, rows }) => [table, rows])),
        validated: true,
      },
    ]),
  );
  const counts = imports.main?.row_counts ?? {};
  const known = keyTables.flatMap(table =>
    Object.hasOwn(counts, table) ? [[table, counts[table] ?? 0] as const] : [],
  );
  const sanitized = transfer.sanitized.map(({ table, column, rule, rows }) => ({ table, column, rule, rows }));
  const changed = sanitized.map(
    ({ table, column, rule, rows }) => `${table}.${column}: ${rows} rows changed (${rule})`,
  );
  return {
    validated: true,
    imports,
    key_row_counts: Object.fromEntries(known),
    sanitized,
    warnings: [...transfer.warnings, ...changed],
  };
}
