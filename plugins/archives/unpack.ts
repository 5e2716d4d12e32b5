// Unpacks in a child process, which inherits the directory and the archives and can be abandoned.
import { spawn } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Problem } from '#core';
import { withDeadline } from '#kit/deadline';
import { hasPipes } from '#kit/descriptors';
import { GuardedDirectory } from '#kit/guarded-directory';
import { helperEnvironment } from '#kit/helper-environment';
import { moduleArguments } from '#kit/worker';
import type { Taking, Unpacked, Unpacking } from './contract.ts';
import type { UnpackLine, UnpackTask } from './task.ts';

const MAX_BYTES = 4 * 2 ** 30;
const MAX_ENTRIES = 300_000;
const EVERYTHING: readonly Taking[] = [{ from: '', to: '' }];
const MEMORY = ['--max-old-space-size=512', '--max-semi-space-size=4'];
/** How long the child may be silent; it gives a sign of life every few seconds. */
const SILENCE_MS = 120_000;
const GONE_MS = 5_000;

export async function unpack(unpacking: Unpacking): Promise<Unpacked> {
  const { archive, into } = unpacking;
  const archives = typeof archive === 'string' ? [archive] : archive;
  const opened: FileHandle[] = [];
  const directory = await GuardedDirectory.open(into);
  try {
    if ((await directory.names()).length > 0) throw new Error(`${into} is not empty`);
    for (const file of archives)
      opened.push(await GuardedDirectory.at(file, (parent, name) => parent.openFile(name, 'read')));
    return await run(unpacking, archives, [directory.descriptor, ...opened.map(({ fd }) => fd)]);
  } finally {
    directory.close();
    await Promise.all(opened.map(handle => handle.close()));
  }
}

async function run(
  { archive, into, user, take = EVERYTHING, withoutTop = false, signal, onProgress, ...limits }: Unpacking,
  archives: readonly string[],
  descriptors: readonly number[],
): Promise<Unpacked> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, [...MEMORY, ...moduleArguments('unpack-worker', import.meta.url)], {
    cwd: '/',
    env: helperEnvironment(),
    stdio: ['pipe', 'pipe', 'ignore', ...descriptors],
  });
  const task: UnpackTask = {
    archives: archives.length,
    areLayers: typeof archive !== 'string',
    take,
    withoutTop,
    maxBytes: limits.maxBytes ?? MAX_BYTES,
    maxEntries: limits.maxEntries ?? MAX_ENTRIES,
    user: process.geteuid?.() === 0 ? user : null,
  };
  // A child that has ended does not read its task; its exit code tells the rest.
  child.stdin?.on('error', () => undefined).write(`${JSON.stringify(task)}\n`);
  const gone = new Promise<void>(resolve => {
    child.once('close', () => resolve()).once('error', () => resolve());
  });
  let silence: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  try {
    return await new Promise<Unpacked>((resolve, reject) => {
      const listen = (): void => {
        clearTimeout(silence);
        silence = setTimeout(() => reject(new Problem(504, `${into} does not answer; look at its disk`)), SILENCE_MS);
      };
      listen();
      onAbort = () => reject(signal.reason);
      signal.addEventListener('abort', onAbort);
      child.once('error', reject);
      child.once('close', (code, killed) => reject(new Error(`unpacking ended with ${killed ?? code}`)));
      if (!hasPipes(child)) return;
      createInterface({ input: child.stdout }).on('line', text => {
        listen();
        const line = lineOf(text);
        if ('progress' in line) onProgress?.(line.progress);
        else if ('unpacked' in line) resolve(line.unpacked);
        const failure = failureIn(line, archives, into);
        if (failure !== undefined) reject(failure);
      });
    });
  } finally {
    clearTimeout(silence);
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
    child.kill('SIGKILL');
    // After this the child writes nothing more, unless the disk hangs; then it ends once the disk answers.
    await withDeadline(() => gone, GONE_MS, 'the end of the program').catch(() => undefined);
  }
}

/** The error that a line tells; undefined for any other line. */
function failureIn(line: UnpackLine, archives: readonly string[], into: string): Error | undefined {
  if ('refusal' in line) return refused(archives[line.archive] ?? '', line.refusal);
  if ('noRoom' in line) return new Problem(507, `${into} has no room: ${line.noRoom}; free some`);
  if (!('noUnpacker' in line || 'fault' in line)) return undefined;
  const names = archives.map(file => path.basename(file)).join(', ');
  if ('noUnpacker' in line) return new Problem(400, `${names} cannot be unpacked: ${line.noUnpacker}`);
  return new Error(`${names} cannot be unpacked: ${line.fault}`);
}

function refused(file: string, reason: string): Problem {
  return new Problem(
    502,
    `The archive ${path.basename(file)} is refused: ${reason}; choose another release, or tell its publisher`,
    { code: 'archive.refused' },
  );
}

/** A killed child may leave part of a line, which counts as a sign of life. */
function lineOf(text: string): UnpackLine {
  try {
    return JSON.parse(text) as UnpackLine;
  } catch {
    return { alive: true };
  }
}
