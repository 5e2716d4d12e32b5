// The first half of a repair: finds all changes that it would make, and makes none.
import { Problem } from '#core';
import { isAtOrBelow, isProtected, type Places, rootNamed } from '../places/path-rules.ts';
import { isWithin, type RawPath, rawOf, shownPath } from '../places/raw-path.ts';
import { allowedPlace, checkManifestPlace, isDirectoryOrFree, realPlace, realPlaces } from '../places/real-places.ts';
import { CappedList } from '../tasks/capped-list.ts';
import { ShardPool } from '../tasks/shard-pool.ts';
import type { ShardName } from '../tasks/shard-thread.ts';
import { refuseWhenStopped, type TaskRun } from '../tasks/task.ts';
import type { VisitAnswer, WalkedDirectory } from '../walk/visit.ts';
import { walk } from '../walk/walk.ts';
import { refuseUnreadable, type WalkedRoots, walkedRoots } from '../walk/walked-roots.ts';
import type { MigrateShardOptions } from './migrate-shard.ts';
import type { RewriteOptions } from './planned-link.ts';
import type { Migration } from './planned-move.ts';
import type { RepairInput, RootMigration } from './repair-input.ts';
import { withoutSlashes } from './rewrite-rules.ts';
import type { RewriteShardOptions } from './rewrite-shard.ts';

export interface RepairCounts {
  changed: number;
  moved: number;
  copied: number;
  skipped_unchanged: number;
  skipped_nonexistent_target: number;
  skipped_existing_destination: number;
}

interface FoundMigration extends Migration {
  readonly shown: RootMigration;
}

export class RepairPlan {
  readonly roots: WalkedRoots;
  readonly missingMigrations: readonly string[];
  readonly errors = new CappedList();
  readonly counts: RepairCounts = {
    changed: 0,
    moved: 0,
    copied: 0,
    skipped_unchanged: 0,
    skipped_nonexistent_target: 0,
    skipped_existing_destination: 0,
  };
  scanned = 0;
  readonly #input: RepairInput;
  readonly #run: TaskRun;
  readonly #realPlaces: Places;
  readonly #migrations: readonly FoundMigration[];
  /** How many links the walks that have ended have found; `#beatsBefore` are the beats of their threads. */
  #linksBefore = 0;
  #beatsBefore = 0;
  #pool: ShardPool | undefined;

  /** Throws a Problem when a path may not be used. */
  constructor(input: RepairInput, run: TaskRun) {
    this.#input = input;
    this.#run = run;
    this.#realPlaces = realPlaces(run.places);
    const { rules, roots, mountsDown, backupPath } = input;
    this.roots = walkedRoots(rules.length === 0 ? [] : roots, mountsDown, run.places);
    if (backupPath !== null) checkManifestPlace(backupPath, 'backup_path', run.places);
    const migrations = walkedMigrations(input, run.places);
    this.missingMigrations = migrations.missing;
    this.#migrations = migrations.found;
    for (const error of [...this.roots.errors, ...migrations.errors]) this.errors.add(error);
    run.onBeats(() => this.#beatsBefore + (this.#pool?.beats ?? 0));
  }

  /** How many links were found until now. */
  get links(): number {
    return this.#linksBefore + (this.#pool?.links ?? 0);
  }

  /**
   * Walks the roots, then one migration after the other. `take` gets the lines of each directory and the number of
   * changes in them. `part` is called after the roots and after each migration.
   */
  async make(take: (lines: Uint8Array, changes: number) => void, part: () => void): Promise<void> {
    const { rules, includeBroken, overwrites, copies, dryRun } = this.#input;
    const rawRules = rules.map(rule => ({
      from: rawOf(withoutSlashes(rule.from_prefix)),
      to: rawOf(withoutSlashes(rule.to_prefix)),
    }));
    const rewrites: RewriteOptions = {
      rules: rawRules,
      roots: this.roots.walked.map(({ real }) => real),
      includeBroken,
    };
    if (rules.length > 0) {
      const options: RewriteShardOptions = { ...rewrites, shownRules: rules, withHeads: !dryRun };
      await this.#walk('rewrite', options, this.roots.walked, (answer, lines) => {
        this.scanned += answer.links;
        take(lines, changesOf(answer));
      });
      part();
    }
    const migrations = this.#migrations.map(({ from, to }) => ({ from, to }));
    for (const [index, { from, shown }] of this.#migrations.entries()) {
      const names = { from: rawOf(shown.from_root), to: rawOf(shown.to_root) };
      const options: MigrateShardOptions = {
        migrations,
        rewrites,
        overwrites,
        copies,
        index,
        shown: names,
        withHeads: !dryRun,
      };
      await this.#walk('migrate', options, [{ real: from, shown: names.from }], (answer, lines) => {
        if (rules.length === 0) this.scanned += answer.links;
        take(lines, changesOf(answer));
      });
      part();
    }
  }

  /** A root may lie above the product, whose own links belong to no library. */
  #passesOver(directory: RawPath): boolean {
    if (!isProtected(shownPath(directory), this.#realPlaces)) return false;
    const error = 'it is a protected place of this product; the links in it stay as they are';
    this.errors.add({ link_path: shownPath(directory), error });
    return true;
  }

  async #walk(
    name: ShardName,
    options: unknown,
    roots: readonly WalkedDirectory[],
    take: (answer: VisitAnswer, lines: Uint8Array) => void,
  ): Promise<void> {
    const { mountsDown } = this.#input;
    const met = new Set<RawPath>();
    const pool = new ShardPool(
      {
        name,
        options,
        answerMs: this.#run.answerMs,
        unreachable: place => {
          this.#run.useUp();
          this.errors.add({ link_path: place, error: 'it does not answer; targets below it count as existing' });
        },
      },
      mountsDown.map(({ directory }) => rawOf(directory)),
    );
    this.#pool = pool;
    const unreadable = new Map<RawPath, string>();
    const receive = (answer: VisitAnswer, lines: Uint8Array, directory: WalkedDirectory): void => {
      for (const error of answer.errors) this.errors.add(error);
      if (answer.unreadable !== undefined) unreadable.set(directory.real, answer.unreadable);
      for (const place of answer.met) met.add(place);
      for (const [key, count] of Object.entries(answer.counts)) this.counts[key as keyof RepairCounts] += count;
      take(answer, lines);
    };
    try {
      const passesOver = (directory: RawPath) => this.#passesOver(directory);
      await walk(pool, roots, receive, { isStopped: () => this.#run.isStopped, passesOver });
    } finally {
      this.#linksBefore += pool.links;
      this.#beatsBefore += pool.beats;
      this.#pool = undefined;
      await pool.close();
    }
    refuseWhenStopped(this.#run);
    refuseUnreadable(roots, unreadable);
    for (const { directory, reason } of mountsDown)
      if (met.has(rawOf(directory))) this.errors.add({ link_path: directory, error: reason });
  }
}

function changesOf({ counts: { changed = 0, moved = 0, copied = 0 } }: VisitAnswer): number {
  return changed + moved + copied;
}

function walkedMigrations({ migrations, mountsDown }: RepairInput, places: Places) {
  const found: FoundMigration[] = [];
  const missing: string[] = [];
  const errors: object[] = [];
  for (const { to_root: root } of migrations) {
    const down = mountsDown.find(({ directory }) => isAtOrBelow(root, directory));
    if (down !== undefined)
      throw new Problem(
        409,
        `${root} lies on ${down.directory}, which is not mounted; see to ${down.processName} first.`,
      );
    if (!isDirectoryOrFree(rawOf(root))) throw new Problem(400, `${root} is no directory; choose another to_root.`);
  }
  const real = migrations.map(shown => ({
    shown,
    from: realPlace(rawOf(shown.from_root)),
    to: allowedPlace(rawOf(shown.to_root), rootNamed(shown.to_root), places),
  }));
  for (const { shown, from, to } of real) {
    if (isWithin(from, to) || isWithin(to, from))
      throw new Problem(400, `${shown.to_root} and ${shown.from_root} lie in each other; choose separate roots.`);
    const source = walkedRoots([shown.from_root], mountsDown, places);
    errors.push(...source.errors);
    const [walked] = source.walked;
    if (walked === undefined) missing.push(shown.from_root);
    else found.push({ shown, from: walked.real, to });
  }
  refuseChains(real);
  return { found, missing, errors };
}

/**
 * Refuses migrations that share roots, also one that only the other will make: one must not move links that another has
 * brought, which a plan cannot know.
 */
function refuseChains(migrations: readonly FoundMigration[]): void {
  for (const [index, { from, shown }] of migrations.entries()) {
    const other = migrations.find(
      (one, at) => at !== index && [one.from, one.to].some(place => isWithin(place, from) || isWithin(from, place)),
    );
    if (other !== undefined)
      throw new Problem(
        400,
        `${shown.from_root} is also a root of another migration; run the two one after the other.`,
      );
  }
}
