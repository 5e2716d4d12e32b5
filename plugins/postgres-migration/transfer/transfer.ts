// Transfers databases in a child process, whose memory is limited whatever their size, and which ends with the host.
import { type ChildProcess, spawn } from 'node:child_process';
import { rm, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { hasPipes } from '#kit/descriptors';
import { publicEnvironment } from '#kit/public-environment';
import { moduleArguments } from '#kit/worker';
import type { TransferError, TransferProgress, TransferResult, TransferTask } from './task.ts';
import { TransferFault } from './transfer-fault.ts';

/** A line that the child writes to its standard output. */
export type TransferLine =
  | { readonly alive: true }
  | { readonly progress: TransferProgress }
  | { readonly result: TransferResult }
  | { readonly error: TransferError };

export interface TransferWatch {
  /** Aborting it ends the child. */
  readonly signal: AbortSignal;
  onProgress(progress: TransferProgress): void;
}

const MEMORY = ['--max-old-space-size=48', '--max-semi-space-size=1', '--expose-gc'];
/** How long the child may be silent before it is killed; it gives a sign of life every few seconds. */
const SILENCE_MS = 120_000;
/** Ends of the names of the files that SQLite puts beside a database in WAL mode, also when it is only read. */
const SIDE_FILES = ['-wal', '-shm'];

/** Rejects with a TransferFault. What was written to PostgreSQL is not undone. */
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
  const worker = moduleArguments('transfer-worker', import.meta.url);
  const child: ChildProcess = spawn(process.execPath, [...MEMORY, ...worker], {
    // With a single arena, memory that one thread has freed can be used by the others.
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
  const take = (text: string): void => {
    silence.refresh();
    const line = lineOf(text);
    if ('progress' in line) {
      stage = line.progress.stage;
      onProgress(line.progress);
    } else if ('result' in line) outcome = line.result;
    else if ('error' in line) outcome = new TransferFault(line.error);
  };
  // A child for which no descriptors were left has no pipes. One that has ended does not read its task. How it ended
  // tells the rest.
  if (hasPipes(child)) {
    child.stdin.on('error', () => undefined).write(`${JSON.stringify(task)}\n`);
    createInterface({ input: child.stdout }).on('line', take);
  }
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

/** A killed child may leave part of a line, which counts as a sign of life. */
function lineOf(text: string): TransferLine {
  try {
    return JSON.parse(text) as TransferLine;
  } catch {
    return { alive: true };
  }
}
