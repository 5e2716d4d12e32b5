// The pipe from which a run reads its standard input: a FIFO in the host's own directory, which outlives the host. The
// process holds both of its ends, so that its input never ends.
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open, readdir, rm, unlink } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Problem } from '#core';
import type { LaunchPlan } from '../contract.ts';

const run = promisify(execFile);
const MAKE_MS = 5_000;
const SUFFIX = '.stdin';
/** PIPE_BUF of Linux: the kernel writes up to this many bytes to a pipe whole or not at all. */
const CHUNK_BYTES = 4_096;
const FULL_POLL_MS = 50;
const FULL_LIMIT_MS = 5_000;

/** Makes and opens the pipe of a process that is about to be launched; the caller closes it. */
export async function makeInputPipe(directory: string, runId: string, user: LaunchPlan['user']): Promise<FileHandle> {
  const file = fileOf(directory, runId);
  await run('mkfifo', ['-m', '0600', '--', file], { timeout: MAKE_MS, cwd: '/' });
  const handle = await open(file, constants.O_RDWR | constants.O_NOFOLLOW);
  // Programs may open /dev/stdin by name.
  if (user !== null) await handle.chown(user.uid, user.gid);
  return handle;
}

/** The end of the last write to each pipe. Writes take turns, because the pieces of two at the same time would mix. */
const lastWrites = new Map<string, Promise<void>>();

/** Throws a Problem 409 when the run has no input, or no process reads it, or not for so long that the pipe is full. */
export function writeInput(directory: string, runId: string, text: string, processName: string): Promise<void> {
  const file = fileOf(directory, runId);
  // Counted from the call, so that no write waits longer because of others.
  const deadline = performance.now() + FULL_LIMIT_MS;
  const write = (): Promise<void> => writeAll(file, Buffer.from(text), processName, deadline);
  const written = (lastWrites.get(file) ?? Promise.resolve()).then(write);
  const ended = written
    .catch(() => undefined)
    .then(() => {
      if (lastWrites.get(file) === ended) lastWrites.delete(file);
    });
  lastWrites.set(file, ended);
  return written;
}

async function writeAll(file: string, bytes: Buffer, processName: string, deadline: number): Promise<void> {
  const handle = await open(file, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENXIO')
        throw new Problem(409, `${processName} reads no input any more; restart it`, { cause: error });
      if (error.code !== 'ENOENT') throw error;
      throw new Problem(409, `${processName} was launched without an input; set stdin to true and restart it`, {
        cause: error,
      });
    },
  );
  try {
    for (let at = 0; at < bytes.length; ) {
      const chunk = bytes.subarray(at, at + CHUNK_BYTES);
      const written = await handle.write(chunk).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'EAGAIN') return { bytesWritten: 0 };
        throw error;
      });
      at += written.bytesWritten;
      if (written.bytesWritten > 0) continue;
      if (performance.now() >= deadline)
        throw new Problem(
          409,
          `${processName} does not read its input: ${at} of ${bytes.length} bytes were taken; try the rest again later`,
        );
      await delay(FULL_POLL_MS);
    }
  } finally {
    await handle.close();
  }
}

export async function removeInputPipe(directory: string, runId: string): Promise<void> {
  await unlink(fileOf(directory, runId)).catch((error: NodeJS.ErrnoException) => {
    // Most runs have no input pipe.
    if (error.code !== 'ENOENT') throw error;
  });
}

/** Removes the pipes of runs that are over. `runIds` is asked last, because runs may begin meanwhile. */
export async function removeOtherPipes(directory: string, runIds: () => ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(directory).catch(() => []))
    if (name.endsWith(SUFFIX) && !runIds().has(name.slice(0, -SUFFIX.length)))
      await rm(path.join(directory, name), { force: true });
}

function fileOf(directory: string, runId: string): string {
  return path.join(directory, runId + SUFFIX);
}
