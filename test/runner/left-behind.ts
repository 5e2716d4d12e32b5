// Finds, names and removes what a test file must not leave behind: processes, mounts and entries of directories.
import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { kill, type MarkedProcess, processesWith } from '../support/marked-processes.ts';

const run = promisify(execFile);
/** How long a process that was told to end may still run. */
const ENDING_MS = 10_000;
const LOOK_EVERY_MS = 50;

export interface Territory {
  /** A variable, as `NAME=value`, that only processes of this test file have in their environment. */
  readonly mark: string;
  /** The temporary directory of the test file. */
  readonly directory: string;
  /** Names in it that belong to the runner. */
  readonly foreign: readonly string[];
  /** The directory in which tap makes fixtures, and the prefix of those of this file. */
  readonly fixtures: { readonly directory: string; readonly prefix: string };
}

/** Removes everything that is left, and gives one line for each thing. */
export async function clearAway({ mark, directory, foreign, fixtures }: Territory): Promise<string[]> {
  const left: string[] = [];
  for (const { pid, command } of await remaining(mark)) {
    left.push(`process ${pid}: ${command}`);
    kill(pid);
  }
  const mounts = [
    ...(await mountsBelow(directory)),
    ...(await mountsBelow(path.join(fixtures.directory, fixtures.prefix))),
  ];
  for (const place of mounts.reverse()) {
    left.push(`mount: ${place}`);
    await run('umount', ['--lazy', place]).catch((error: Error) => left.push(`it stays: ${error.message}`));
  }
  const names = await readdir(directory);
  for (const name of names) if (!foreign.includes(name)) left.push(`in the temporary directory: ${name}`);
  await rm(directory, { recursive: true, force: true });
  for (const name of await readdir(fixtures.directory).catch(() => [])) {
    if (!name.startsWith(fixtures.prefix)) continue;
    left.push(`in ${fixtures.directory}: ${name}`);
    await rm(path.join(fixtures.directory, name), { recursive: true, force: true });
  }
  return left;
}

/** Processes that still run after the time that an ending process may need. */
async function remaining(mark: string): Promise<MarkedProcess[]> {
  const deadline = performance.now() + ENDING_MS;
  for (;;) {
    const found = await processesWith(mark);
    if (found.length === 0 || performance.now() >= deadline) return found;
    await delay(LOOK_EVERY_MS);
  }
}

/** Mounts whose path begins like this, outer ones first. */
async function mountsBelow(beginning: string): Promise<string[]> {
  const places = (await readFile('/proc/self/mountinfo', 'utf8'))
    .split('\n')
    .map(line => (line.split(' ')[4] ?? '').replaceAll('\\040', ' '));
  return places.filter(place => place.startsWith(beginning));
}
