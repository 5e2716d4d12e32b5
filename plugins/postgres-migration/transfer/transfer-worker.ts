// The program that transfers: it reads its task from the first line of its standard input, reports in lines of JSON,
// and ends with a result or an error. It also ends when the program that started it ends.
import { createInterface } from 'node:readline';
import { DatabaseTransfer } from './database-transfer.ts';
import type { TransferError, TransferResult, TransferStage, TransferTask } from './task.ts';
import type { TransferLine } from './transfer.ts';
import { TransferFault } from './transfer-fault.ts';

/** The least time between two reports on the same table. */
const PROGRESS_MS = 750;
const ALIVE_MS = 5_000;
const MS_PER_S = 1_000;

const input = createInterface({ input: process.stdin });
input.once('line', line => void main(JSON.parse(line) as TransferTask));
input.once('close', () => process.exit(1));
setInterval(() => tell({ alive: true }), ALIVE_MS);

async function main(task: TransferTask): Promise<void> {
  try {
    end({ result: await transfer(task) }, 0);
  } catch (error) {
    end({ error: faultOf(error) }, 1);
  }
}

async function transfer(task: TransferTask): Promise<TransferResult> {
  const databases = task.databases.map(pair => new DatabaseTransfer(pair));
  // Modules that are loaded on use are loaded now, because the user of the task may not be able to read them.
  await Promise.all([import('pg'), beginEach(databases)]);
  if (task.user !== null) become(task.user);
  for (const database of databases) await database.match(task);
  const rows = databases.reduce((sum, database) => sum + database.rows, 0);
  const importing = stageOf('import', rows);
  for (const database of databases) await database.import(importing.step(database));
  const validating = stageOf('validation', rows);
  const imports = [];
  for (const database of databases) imports.push(await database.validate(validating.step(database)));
  const now = performance.now();
  const result: TransferResult = {
    imports,
    sanitized: databases.flatMap(({ sanitized }) => sanitized),
    warnings: databases.flatMap(({ warnings }) => warnings),
    timingsS: {
      import: (validating.startedMs - importing.startedMs) / MS_PER_S,
      validation: (now - validating.startedMs) / MS_PER_S,
    },
  };
  await Promise.all(databases.map(database => database.close()));
  return result;
}

async function beginEach(databases: readonly DatabaseTransfer[]): Promise<void> {
  for (const database of databases) await database.begin();
}

function become({ uid, gid }: { readonly uid: number; readonly gid: number }): void {
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

/** Reports one stage, whose share grows with the rows of all databases. */
function stageOf(stage: TransferStage, allRows: number) {
  const startedMs = performance.now();
  let doneRows = 0;
  let toldMs = 0;
  const step =
    ({ pair: { label } }: DatabaseTransfer) =>
    (table: string, rows: number, isTableDone: boolean): void => {
      const share = allRows === 0 ? 1 : Math.min(1, (doneRows + rows) / allRows);
      if (isTableDone) doneRows += rows;
      if (!isTableDone && performance.now() - toldMs < PROGRESS_MS) return;
      toldMs = performance.now();
      tell({ progress: { stage, label, table, rows, isTableDone, share } });
    };
  return { startedMs, step };
}

function faultOf(error: unknown): TransferError {
  if (error instanceof TransferFault) return error.fault;
  // The message of an unexpected error may hold anything, so only its name is used.
  const name = error instanceof Error ? error.name : typeof error;
  return { message: `The transfer failed (${name}); report this`, code: 'transfer.ended', stage: 'import' };
}

function tell(line: TransferLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function end(line: TransferLine, code: number): void {
  process.stdout.write(`${JSON.stringify(line)}\n`, () => process.exit(code));
}
