// Transfers databases in a program of its own, whose memory is limited whatever their size, and which ends with the
// host.
import { spawn } from 'node:child_process';
import { rm, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { publicEnvironment } from '#kit/public-environment';
import { moduleArguments } from '#kit/worker';
import type { TransferError, TransferProgress, TransferResult, TransferTask } from './task.ts';
import { TransferFault } from './transfer-fault.ts';

/** A line of the program. */
export type TransferLine =
  | { readonly alive: true }
  | { readonly progress: TransferProgress }
  | { readonly result: TransferResult }
  | { readonly error: TransferError };

export interface TransferWatch {
  /** Ends the program when it aborts. */
  readonly signal: AbortSignal;
  onProgress(progress: TransferProgress): void;
}

const MEMORY = ['--max-old-space-size=48', '--max-semi-space-size=1', '--expose-gc'];
/** It tells every few seconds that it lives. */
const SILENCE_MS = 120_000;
/** What SQLite puts beside a file whose writers kept a write-ahead log, also for those who only read. */
const SIDE_FILES = ['-wal', '-shm'];

/** Rejects with a TransferFault. Nothing is undone of what was written to the databases of PostgreSQL. */
export async function runTransfer(task: TransferTask, watch: TransferWatch): Promise<TransferResult> {
  const side = task.databases.flatMap(({ file }) => SIDE_FILES.map(end => `${file}${end}`));
  const made = await Promise.all(
    side.map(file =>
      stat(file).then(
        () => [],
        () => [file],
      ),
    ),
  );
  try {
    return await run(task, watch);
  } finally {
    for (const file of made.flat()) await rm(file, { force: true });
  }
}

async function run(task: TransferTask, { signal, onProgress }: TransferWatch): Promise<TransferResult> {
  const child = spawn(process.execPath, [...MEMORY, ...moduleArguments('transfer-worker', import.meta.url)], {
    // What one thread has freed, the others use again.
    env: { ...publicEnvironment(process.env), MALLOC_ARENA_MAX: '1' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const stop = (): void => void child.kill('SIGKILL');
  const silence = setTimeout(stop, SILENCE_MS);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  let stage: TransferError['stage'] = 'import';
  let outcome: TransferResult | TransferFault | undefined;
  const ended = new Promise<string>(resolve => {
    child.once('error', error => resolve(error.message));
    child.once('close', (code, killed) => resolve(killed ?? `code ${code}`));
  });
  // A program that ended does not read its task; what became of it is told by its end.
  child.stdin.on('error', () => undefined).write(`${JSON.stringify(task)}\n`);
  createInterface({ input: child.stdout }).on('line', text => {
    silence.refresh();
    const line = lineOf(text);
    if ('progress' in line) {
      stage = line.progress.stage;
      onProgress(line.progress);
    } else if ('result' in line) outcome = line.result;
    else if ('error' in line) outcome = new TransferFault(line.error);
  });
  const how = await ended;
  clearTimeout(silence);
  signal.removeEventListener('abort', stop);
  outcome ??= new TransferFault({
    message: `The transfer ended before it was done (${how}); try again`,
    code: 'transfer.ended',
    stage,
  });
  if (outcome instanceof TransferFault) throw outcome;
  return outcome;
}

/** A program that is killed leaves a line in part, which tells no more than that it lived. */
function lineOf(text: string): TransferLine {
  try {
    return JSON.parse(text) as TransferLine;
  } catch {
    return { alive: true };
  }
}
