// Transfers SQLite files that a test has made to databases of a server that the test has started.
import path from 'node:path';
import Database from 'better-sqlite3';
import type { TransferError, TransferProgress, TransferTask } from '../../plugins/postgres-migration/transfer/task.ts';
import { runTransfer } from '../../plugins/postgres-migration/transfer/transfer.ts';
import { TransferFault } from '../../plugins/postgres-migration/transfer/transfer-fault.ts';
import type { startPostgres } from './postgres.ts';

export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>;

/** Makes a SQLite file; `write` is called with the open database. */
export function sqliteFile(directory: string, name: string, write: (db: Database.Database) => void): string {
  const file = path.join(directory, name);
  const db = new Database(file);
  write(db);
  db.close();
  return file;
}

export function taskOf({ access }: PostgresServer, file: string, database: string): TransferTask {
  return {
    server: access,
    user: null,
    answerMs: 60_000,
    databases: [{ label: 'main', file, database, leftOut: ['VersionInfo'] }],
  };
}

export interface RunOptions {
  readonly signal?: AbortSignal;
  onProgress?(progress: TransferProgress): void;
}

export function run(task: TransferTask, { signal, onProgress }: RunOptions = {}) {
  return runTransfer(task, {
    signal: signal ?? new AbortController().signal,
    onProgress: onProgress ?? (() => undefined),
  });
}

/** The error of a transfer that must fail. */
export async function faultOf(task: TransferTask, options?: RunOptions): Promise<TransferError> {
  try {
    await run(task, options);
  } catch (error) {
    if (error instanceof TransferFault) return error.fault;
    throw error;
  }
  throw new Error('the transfer succeeded');
}
