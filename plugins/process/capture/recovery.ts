// Finds where a spool and its log are continued after a kill. Lines that were about to be recorded are cut off the log;
// if the record is damaged, the last lines of the log tell how far the spool was read.
import type { Stats } from 'node:fs';
import { type FileHandle, readdir } from 'node:fs/promises';
import path from 'node:path';
import { GuardedDirectory } from '#kit/guarded-directory';
import { KeyBlock } from '#kit/key-block';
import { rotatedNames } from '#kit/rotating-file';
import { completeBytes, toLines } from './output-lines.ts';
import { type Position, PositionFile, START, type WaitingRun } from './position.ts';
import type { CaptureTarget, SessionOptions } from './session-options.ts';

const CHUNK_BYTES = 256 * 1024;
const TAIL_BYTES = 64 * 1024;
/** How many last lines of the log must stand in the spool one after the other, because single lines may recur. */
const TAIL_LINES = 20;
/** How far back a spool is searched; older output was read long ago. */
const MAX_SEARCHED_BYTES = 128 * 1024 ** 2;
const NEWLINE = 0x0a;

/** The position of a new spool, or the one that the log tells when the record is damaged or missing. */
export async function firstPosition(
  spool: FileHandle,
  positions: PositionFile,
  { processName, logFile }: CaptureTarget,
  { log }: SessionOptions,
): Promise<Position> {
  const { size } = await spool.stat();
  if (size > 0)
    log.warn(`how far the output of ${processName} was read is not known; it goes on after the last line in its log`);
  const position = size === 0 ? START : { ...START, consumedBytes: await findConsumed(spool, logFile) };
  await positions.record(position);
  return position;
}

/** An ended run whose last lines still wait in its spool. */
export interface LeftRun extends WaitingRun {
  readonly spoolFile: string;
}

/**
 * Cuts the lines that killed hosts were about to record off all logs. Called before the first of them is written to:
 * later, lines of another service with the same log would be cut off. Resolves with the ended runs whose last lines
 * wait, in their order. Never throws.
 */
export async function undoAllUnrecorded(directory: string, log: SessionOptions['log']): Promise<LeftRun[]> {
  const names: readonly string[] = await readdir(directory).catch(() => []);
  const files = names.filter(name => name.endsWith('.position')).map(name => path.join(directory, name));
  const failed = (error: unknown): undefined => {
    log.warn(`the positions in ${directory} cannot be read`, error);
  };
  const waiting = await Promise.all(files.map(file => undoIn(file, log).catch(failed)));
  const left = waiting.flatMap((run, index) => {
    const spoolFile = (files[index] ?? '').replace(/\.position$/, '');
    // A host that is killed while it removes what was read has removed the spool first.
    const isRead = !names.includes(path.basename(spoolFile));
    return run === undefined || run.place === 0 || isRead ? [] : { ...run, spoolFile };
  });
  return left.sort((a, b) => a.place - b.place);
}

async function undoIn(file: string, log: SessionOptions['log']): Promise<WaitingRun | undefined> {
  const { positions, last } = await GuardedDirectory.at(file, PositionFile.open);
  try {
    if (last === null || last.pendingBytes === 0) return last?.waiting;
    // The configuration may name another log by now.
    await undoUnrecorded(last.logFile, last).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT')
        log.warn(`${last.logFile} cannot be cut back; its last lines may stand in it twice`, error);
    });
    await positions.record({ ...last, pendingBytes: 0 });
    return last.waiting;
  } finally {
    await positions.close();
  }
}

/**
 * Truncates what a killed host appended after its last recorded position, because those lines are read again. Where the
 * log has grown by more, others write to it too, and all is kept: lines may then stand in it twice, but none is lost.
 */
async function undoUnrecorded(logFile: string, position: Position): Promise<void> {
  const { logDevice, logInode, logBytes, pendingBytes } = position;
  if (logInode === 0 || pendingBytes === 0) return;
  await GuardedDirectory.at(logFile, async (directory, log) => {
    const rotated = rotatedNames(await directory.names(), logFile);
    // Another program may have moved or removed the log.
    for (const name of [log, ...rotated]) {
      const isGrown = (size: number): boolean => size > logBytes && size <= logBytes + pendingBytes;
      const isLog = (entry: Stats | null): boolean =>
        entry?.ino === logInode && entry.dev === logDevice && entry.nlink === 1 && isGrown(entry.size);
      if (!isLog(await directory.stat(name))) continue;
      const handle = await directory.openFile(name, 'update');
      try {
        if (isLog(await handle.stat())) await handle.truncate(logBytes);
      } finally {
        await handle.close();
      }
    }
  });
}

/**
 * The bytes of the spool whose lines are in the log: all when there is no log, none when its last lines do not stand in
 * the spool. Where lines recur the last place counts, so that none is written twice.
 */
async function findConsumed(spool: FileHandle, logFile: string | null): Promise<number> {
  const { size } = await spool.stat();
  if (logFile === null) return size;
  const tail = await lastLines(logFile);
  if (tail.length === 0) return 0;
  const keys = new KeyBlock();
  const seen: string[] = [];
  let at = Math.max(0, size - MAX_SEARCHED_BYTES);
  let consumed = 0;
  for await (const chunk of completeChunks(spool, at, size)) {
    for (const line of linesIn(chunk)) {
      at += line.length;
      for (const { text } of toLines(line, keys)) seen.push(text);
      seen.splice(0, seen.length - TAIL_LINES);
      if (seen.length > 0 && endsAlike(tail, seen)) consumed = at;
    }
  }
  return consumed;
}

/** The spool from `start` to the end of its last complete line, in pieces that end with a line. */
async function* completeChunks(spool: FileHandle, start: number, size: number): AsyncGenerator<Buffer> {
  for (let offset = start; offset < size; ) {
    const { buffer, bytesRead } = await spool.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, offset);
    const chunk = buffer.subarray(0, completeBytes(buffer.subarray(0, bytesRead), false));
    if (chunk.length === 0) return;
    yield chunk;
    offset += chunk.length;
  }
}

function* linesIn(chunk: Buffer): Generator<Buffer> {
  for (let start = 0; start < chunk.length; ) {
    const end = chunk.indexOf(NEWLINE, start) + 1 || chunk.length;
    yield chunk.subarray(start, end);
    start = end;
  }
}

/** Whether the lines of the log end with the texts that were seen, as far as both go back. */
function endsAlike(tail: readonly string[], seen: readonly string[]): boolean {
  const count = Math.min(tail.length, seen.length);
  return seen.slice(-count).every((text, index) => tail[tail.length - count + index]?.endsWith(text) === true);
}

async function lastLines(logFile: string): Promise<string[]> {
  return GuardedDirectory.at(logFile, async (directory, name) => {
    const handle = await directory.openFile(name, 'read');
    try {
      const { size } = await handle.stat();
      const start = Math.max(0, size - TAIL_BYTES);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, start);
      const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
      return lines.filter(line => line !== '').slice(-TAIL_LINES);
    } finally {
      await handle.close();
    }
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
