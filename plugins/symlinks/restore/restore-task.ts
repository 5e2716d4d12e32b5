// Restores a manifest, or previews that, part by part in the order of the manifest. Threads restore the parts one after
// the other, because the result of one part may matter for the next.
import { closeSync } from 'node:fs';
import { Problem } from '#core';
import { Manifest, type ManifestItem, openManifest } from '../manifest/manifest-reader.ts';
import { stampOf } from '../manifest/time-stamp.ts';
import { checkedPath, type Places } from '../places/path-rules.ts';
import { rawOf } from '../places/raw-path.ts';
import { allowedPlace, realPlace, realPlaces } from '../places/real-places.ts';
import { CappedList } from '../tasks/capped-list.ts';
import { ShardPool } from '../tasks/shard-pool.ts';
import type { TaskProgress, TaskRun } from '../tasks/task.ts';
import { previewMemory } from './preview-table.ts';
import type { RestoreInput } from './restore-input.ts';
import type { CompareResult, RestoreResult } from './restore-request.ts';
import type {
  Fate,
  RestoreAnswer,
  RestoreError,
  RestoreRequest,
  RestoreShardOptions,
  Sample,
} from './restore-shard.ts';
import type { Base } from './restored-tree.ts';
import { Samples } from './samples.ts';

const PART = 512;
/** How many paths of the preview table an item needs on average: a move and its directories need several. */
const PATHS_PER_ITEM = 2;

/** Throws a Problem when the restore could not begin. */
export async function checkRestore({ manifestPath }: RestoreInput, { places }: TaskRun): Promise<null> {
  allowedPlace(rawOf(manifestPath), 'manifest_path', places);
  closeSync(openManifest(manifestPath));
  return null;
}

export async function restore(input: RestoreInput, run: TaskRun): Promise<RestoreResult> {
  return withManifest(input, run, async manifest => {
    const work = new Restore(input, manifest, run);
    await work.make();
    return {
      manifest_path: input.manifestPath,
      manifest_created_at: manifest.header.createdAt,
      manifest_type: manifest.header.type,
      dry_run: input.dryRun,
      overwrite_existing: input.overwrites,
      restore_broken: input.restoreBroken,
      total_entries: manifest.total,
      restored: work.restored,
      skipped_existing: work.count('skip_existing'),
      skipped_unchanged: work.count('skip_unchanged'),
      skipped_invalid_entries: work.count('invalid'),
      skipped_nonexistent_target: work.count('skip_missing_target'),
      replaced_files: work.count('replaced_files'),
      errors: work.errors.elements as RestoreError[],
      errors_total: work.errors.total,
    };
  });
}

export async function compare(input: RestoreInput, run: TaskRun): Promise<CompareResult> {
  return withManifest(input, run, async manifest => {
    const work = new Restore({ ...input, dryRun: true }, manifest, run);
    await work.make();
    return {
      manifest_path: input.manifestPath,
      manifest_created_at: manifest.header.createdAt,
      overwrite_existing: input.overwrites,
      restore_broken: input.restoreBroken,
      sample_limit: input.sampleLimit,
      total_entries: manifest.total,
      projected_restored: work.restored,
      projected_skipped_existing: work.count('skip_existing'),
      projected_skipped_unchanged: work.count('skip_unchanged'),
      projected_skipped_invalid_entries: work.count('invalid'),
      projected_skipped_nonexistent_target: work.count('skip_missing_target'),
      projected_errors: work.count('failed'),
      sample_changes: work.samples.chosen(),
      errors: work.errors.elements as RestoreError[],
    };
  });
}

async function withManifest<Result>(
  { manifestPath }: RestoreInput,
  { places }: TaskRun,
  use: (manifest: Manifest) => Promise<Result>,
): Promise<Result> {
  allowedPlace(rawOf(manifestPath), 'manifest_path', places);
  const manifest = Manifest.open(manifestPath);
  try {
    return await use(manifest);
  } finally {
    manifest.close();
  }
}

class Restore {
  readonly errors = new CappedList();
  readonly samples: Samples<Sample>;
  readonly #input: RestoreInput;
  readonly #manifest: Manifest;
  readonly #run: TaskRun;
  readonly #counts: Partial<Record<Fate | 'replaced_files', number>> = {};
  /** Places that were already reported as not answering. */
  readonly #silent = new Set<string>();
  #done = 0;

  constructor(input: RestoreInput, manifest: Manifest, run: TaskRun) {
    this.#input = input;
    this.#manifest = manifest;
    this.#run = run;
    this.samples = new Samples(input.sampleLimit);
  }

  async make(): Promise<void> {
    const pool = new ShardPool(
      {
        name: 'restore',
        options: this.#shardOptions(),
        answerMs: this.#run.answerMs,
        unreachable: place => {
          this.#run.useUp();
          this.#tellSilent({ link_path: place, error: 'it does not answer; targets below it count as existing' });
        },
      },
      this.#input.mountsDown.map(({ directory }) => rawOf(directory)),
    );
    this.#run.onBeats(() => pool.beats);
    this.#run.onProgress(() => this.#progress());
    try {
      let begun: Promise<void> = Promise.resolve();
      // The next part is read while the previous one is restored.
      for (const items of partsOf(this.#manifest.items())) {
        await begun;
        if (this.#run.isStopped) throw stopped();
        begun = this.#restore(items, pool);
        begun.catch(() => undefined);
      }
      await begun;
    } finally {
      await pool.close();
    }
  }

  async #restore(items: RestoreRequest['items'], pool: ShardPool): Promise<void> {
    const request = { items, sampleLimit: this.#input.sampleLimit };
    const answer = await pool.ask((unreachable): RestoreRequest => ({ ...request, unreachable }));
    this.#take(answer as RestoreAnswer);
    this.#done += items.length;
  }

  #shardOptions(): RestoreShardOptions {
    const { dryRun, overwrites, restoreBroken, mountsDown } = this.#input;
    const { places, id } = this.#run;
    return {
      bases: this.#manifest.header.roots.map(root => baseOf(root, places)),
      places: realPlaces(places),
      mountsDown,
      runId: id,
      preview: dryRun ? previewMemory(PATHS_PER_ITEM * this.#manifest.total) : null,
      stamp: stampOf(new Date()),
      overwrites,
      restoreBroken,
    };
  }

  #take({ counts, samples, errors, silent }: RestoreAnswer): void {
    for (const [what, count] of Object.entries(counts) as [Fate | 'replaced_files', number][])
      this.#counts[what] = this.count(what) + count;
    for (const { index, ...sample } of samples) this.samples.add(sample.action, this.#done + index, sample);
    for (const error of errors) this.errors.add(error);
    for (const error of silent) this.#tellSilent(error);
  }

  #tellSilent(error: RestoreError): void {
    if (!this.#silent.has(error.link_path)) this.errors.add(error);
    this.#silent.add(error.link_path);
  }

  get restored(): number {
    return this.count('create') + this.count('overwrite');
  }

  count(what: Fate | 'replaced_files'): number {
    return this.#counts[what] ?? 0;
  }

  #progress(): TaskProgress {
    const { total } = this.#manifest;
    return {
      stage: 'processing',
      processed_entries: this.#done,
      total_entries: total,
      processed_items: this.#done,
      total_items: total,
      restored: this.restored,
      errors: this.errors.total,
    };
  }
}

function* partsOf(items: Iterable<ManifestItem | null>): Generator<(ManifestItem | null)[]> {
  let part: (ManifestItem | null)[] = [];
  for (const item of items) {
    part.push(item);
    if (part.length < PART) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

/** Throws a Problem 400 for a root that is not a valid path. The places of its links are checked one by one. */
function baseOf(root: string, places: Places): Base {
  const shown = rawOf(checkedPath(root, `The root ${root} of the manifest`, places));
  return { shown, real: realPlace(shown) };
}

function stopped(): Problem {
  return new Problem(503, 'The host ended before it was done; start it again.', { code: 'interrupted' });
}
