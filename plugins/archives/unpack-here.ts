// Unpacks one archive, or the layers of one image, into the working directory. Everything is checked before anything is
// written.
import { fstatSync, statfsSync } from 'node:fs';
import { ArchiveTree } from './archive-tree.ts';
import { Budget } from './budget.ts';
import type { Unpacked, UnpackingProgress } from './contract.ts';
import type { ArchiveEntry, ArchiveReader } from './entry.ts';
import { newTarget } from './link-target.ts';
import { openArchive } from './open-archive.ts';
import { Plan } from './plan.ts';
import { NoRoom, within } from './refusal.ts';
import { Takings } from './taking.ts';
import type { UnpackTask } from './task.ts';
import { unwrite, write } from './writer.ts';

/** The least time between two lines of progress. */
const PROGRESS_MS = 250;
/** Disk space that is left to others. */
const SPARE_BYTES = 64 * 1024 * 1024;
/** A file takes a multiple of this on the disk. */
const UNIT_BYTES = 4_096;
/** Codes of a full disk, which may have become full after the check. */
const FULL = ['ENOSPC', 'EDQUOT'];

/**
 * `descriptors` are those of the archives. Rejects with an ArchiveRefusal, NoRoom or NoUnpacker, and then leaves
 * nothing behind.
 */
export async function unpackHere(
  task: UnpackTask,
  descriptors: readonly number[],
  onProgress: (progress: UnpackingProgress) => void,
): Promise<Unpacked> {
  const archives = await openAll(task, descriptors);
  try {
    return await unpackAll(task, archives, onProgress);
  } finally {
    for (const reader of archives.readers) reader.release();
  }
}

async function unpackAll(
  task: UnpackTask,
  archives: OpenArchives,
  onProgress: (progress: UnpackingProgress) => void,
): Promise<Unpacked> {
  const { readers } = archives;
  const plan = await planOf(task, archives);
  try {
    checkSpace(plan);
  } catch {
    for (const reader of readers) reader.release();
    checkSpace(plan);
  }
  let doneBytes = 0;
  let toldMs = Number.NEGATIVE_INFINITY;
  const wrote = (bytes: number): void => {
    doneBytes += bytes;
    if (performance.now() - toldMs < PROGRESS_MS) return;
    toldMs = performance.now();
    onProgress({ doneBytes, totalBytes: plan.bytes });
  };
  try {
    await write(plan, readers, new Budget(task), wrote);
  } catch (error) {
    unwrite();
    throw FULL.includes(String((error as NodeJS.ErrnoException).code)) ? new NoRoom('it became full meanwhile') : error;
  }
  return { files: plan.fileCount, bytes: plan.bytes };
}

interface OpenArchives {
  readonly readers: readonly ArchiveReader[];
  /** Whether `/` means the root of the archives instead of the root of the machine. */
  readonly isRooted: boolean;
}

async function openAll({ areLayers }: UnpackTask, descriptors: readonly number[]): Promise<OpenArchives> {
  const readers: ArchiveReader[] = [];
  let isRooted = areLayers;
  for (const [archive, descriptor] of descriptors.entries()) {
    const bytes = fstatSync(descriptor).size;
    const opened = await within(archive, () => openArchive(descriptor, bytes));
    readers.push({
      each: (budget, visit) => within(archive, () => opened.reader.each(budget, visit)),
      release: () => opened.reader.release(),
    });
    isRooted ||= opened.isRooted;
  }
  return { readers, isRooted };
}

/** Rejects with an ArchiveRefusal for anything that must not be written. */
async function planOf(task: UnpackTask, { readers, isRooted }: OpenArchives): Promise<Plan> {
  const tree = new ArchiveTree(task.areLayers);
  const budget = new Budget(task);
  for (const [archive, reader] of readers.entries()) {
    const entries: ArchiveEntry[] = [];
    await reader.each(budget, entry => void entries.push(entry));
    await within(archive, async () => tree.add(archive, entries, isRooted));
  }
  if (task.withoutTop) tree.leaveTopOff();
  const takings = new Takings(task.take);
  const plan = new Plan();
  for (const taken of takings.of(tree)) plan.add(taken, (target, place) => newTarget(target, place, takings, isRooted));
  plan.checkLinks();
  budget.checkBytes(plan.bytes);
  return plan;
}

function checkSpace(plan: Plan): void {
  const { bavail, bsize, ffree, files } = statfsSync('.');
  const count = plan.fileCount + plan.directories.length + plan.links.length;
  const neededBytes = plan.bytes + count * UNIT_BYTES + SPARE_BYTES;
  const freeBytes = bavail * bsize;
  if (freeBytes < neededBytes) throw new NoRoom(`${mib(freeBytes)} are free where ${mib(neededBytes)} are needed`);
  // Some file systems make inodes on demand and report 0.
  if (files > 0 && ffree < count) throw new NoRoom(`${ffree} files can be made where ${count} are needed`);
}

function mib(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}
