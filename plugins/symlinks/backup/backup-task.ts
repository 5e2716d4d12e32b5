// Writes a snapshot of the links below roots, in the order of the walk, so that snapshots of the same tree are equal.
import { Problem } from '#core';
import { SnapshotWriter } from '../manifest/manifest-writer.ts';
import { timeOf } from '../manifest/time-stamp.ts';
import { type RawPath, rawOf } from '../places/raw-path.ts';
import { checkManifestPlace } from '../places/real-places.ts';
import { CappedList } from '../tasks/capped-list.ts';
import { ShardPool } from '../tasks/shard-pool.ts';
import type { TaskRun } from '../tasks/task.ts';
import type { VisitAnswer, WalkedDirectory } from '../walk/visit.ts';
import { walk } from '../walk/walk.ts';
import { refuseUnreadable, walkedRoots } from '../walk/walked-roots.ts';
import type { BackupInput } from './backup-input.ts';
import type { BackupResult } from './backup-request.ts';
import type { BackupShardOptions } from './backup-shard.ts';

/** Throws a Problem when paths of the backup may not be used. */
export async function checkBackup({ backupPath, roots, mountsDown }: BackupInput, { places }: TaskRun): Promise<null> {
  checkManifestPlace(backupPath, 'backup_path', places);
  walkedRoots(roots, mountsDown, places);
  return null;
}

export async function backup(input: BackupInput, run: TaskRun): Promise<BackupResult> {
  const { backupPath, roots, includeBroken, allowEmpty, owner, mountsDown, processName } = input;
  checkManifestPlace(backupPath, 'backup_path', run.places);
  const { walked, missing, errors: rootErrors } = walkedRoots(roots, mountsDown, run.places);
  if (walked.length === 0) throw new Problem(404, `No root is there: ${missing.join(', ')}; see to their mounts.`);
  const header = {
    createdAt: timeOf(new Date()),
    roots,
    includeBroken,
    targetsChecked: !includeBroken,
    processName,
  };
  const writer = await SnapshotWriter.begin({ file: backupPath, owner, allowEmpty }, header);
  try {
    const scan = new BackupScan(input, run, writer);
    for (const error of rootErrors) scan.errors.add(error);
    await scan.make(walked);
    await writer.finish();
    return { backup_manifest: backupPath, roots: [...roots], missing_roots: [...missing], ...scan.result() };
  } finally {
    await writer.close();
  }
}

interface BackupCounts {
  recorded_entries: number;
  skipped_broken: number;
}

class BackupScan {
  readonly errors = new CappedList();
  readonly #counts: BackupCounts = { recorded_entries: 0, skipped_broken: 0 };
  readonly #input: BackupInput;
  readonly #run: TaskRun;
  readonly #writer: SnapshotWriter;
  /** How many links the directories have whose lines are written. */
  #links = 0;

  constructor(input: BackupInput, run: TaskRun, writer: SnapshotWriter) {
    this.#input = input;
    this.#run = run;
    this.#writer = writer;
  }

  /** Throws a Problem 500 when none of the roots can be read. */
  async make(walked: readonly WalkedDirectory[]): Promise<void> {
    const { mountsDown, includeBroken } = this.#input;
    const options: BackupShardOptions = { includeBroken };
    const silent = new Set<string>();
    const pool = new ShardPool(
      {
        name: 'backup',
        options,
        answerMs: this.#run.answerMs,
        unreachable: place => {
          this.#run.useUp();
          this.errors.add({ link_path: place, error: 'it does not answer; targets below it count as existing' });
        },
      },
      mountsDown.map(({ directory }) => rawOf(directory)),
    );
    this.#run.onBeats(() => pool.beats);
    this.#run.onProgress(() => ({
      stage: 'collecting',
      processed_symlinks: pool.links,
      total_symlinks: null,
      recorded_entries: this.#counts.recorded_entries,
      errors: this.errors.total,
    }));
    const unreadable = new Map<RawPath, string>();
    const take = (answer: VisitAnswer, lines: Uint8Array, directory: WalkedDirectory): void => {
      this.#links += answer.links;
      this.#writer.append(lines);
      for (const [key, count] of Object.entries(answer.counts)) this.#counts[key as keyof BackupCounts] += count;
      for (const error of answer.errors) this.errors.add(error);
      for (const place of answer.met) silent.add(place);
      if (answer.unreadable !== undefined) unreadable.set(directory.real, answer.unreadable);
    };
    try {
      await walk(pool, walked, take);
    } finally {
      await pool.close();
    }
    refuseUnreadable(walked, unreadable);
    for (const { directory, reason } of mountsDown)
      if (silent.has(directory)) this.errors.add({ link_path: directory, error: reason });
    this.#run.onProgress(() => ({
      stage: 'finalizing',
      processed_symlinks: this.#links,
      total_symlinks: this.#links,
      recorded_entries: this.#counts.recorded_entries,
      errors: this.errors.total,
    }));
  }

  result() {
    return {
      scanned_symlinks: this.#links,
      ...this.#counts,
      errors: this.errors.elements as BackupResult['errors'],
      errors_total: this.errors.total,
    };
  }
}
