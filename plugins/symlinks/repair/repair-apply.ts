// The second half of a repair: carries out a plan in batches, each of which is in the journal before it begins.
import { Problem } from '#core';
import type { CappedList } from '../tasks/capped-list.ts';
import { ShardPool } from '../tasks/shard-pool.ts';
import { refuseWhenStopped, type TaskRun } from '../tasks/task.ts';
import type { ApplyGroup, ApplyRequest, ApplyShardOptions, Outcome } from './apply-shard.ts';
import type { Journal } from './journal.ts';
import { headOf, type PlanHead } from './plan.ts';
import type { PlanFile } from './plan-file.ts';
import type { Report } from './report.ts';

const BATCH = 1_000;

export interface AppliedCounts {
  changed: number;
  moved: number;
  copied: number;
  skipped_changed_during_run: number;
  skipped_existing_destination: number;
}

export interface Applying {
  readonly plan: PlanFile;
  /** Gives the journal; the first call, before the first change, creates it. */
  readonly journal: () => Journal;
  readonly report: Report;
  readonly errors: CappedList;
  readonly overwrites: boolean;
}

interface Batch {
  readonly groups: ApplyGroup[];
  readonly lines: string[];
}

export class RepairApply {
  readonly counts: AppliedCounts = {
    changed: 0,
    moved: 0,
    copied: 0,
    skipped_changed_during_run: 0,
    skipped_existing_destination: 0,
  };
  processed = 0;
  readonly #applying: Applying;
  readonly #run: TaskRun;
  readonly #pool: ShardPool;

  constructor(applying: Applying, run: TaskRun) {
    this.#applying = applying;
    this.#run = run;
    const options: ApplyShardOptions = { runId: run.id, overwrites: applying.overwrites };
    this.#pool = new ShardPool({ name: 'apply', options, answerMs: run.answerMs, unreachable: () => undefined });
    run.onBeats(() => this.#pool.beats);
  }

  /** Rejects with a Problem when the run must end early; the journal has the changes that were made until then. */
  async carryOut(): Promise<void> {
    let begun: Promise<void> = Promise.resolve();
    try {
      for (const part of this.#applying.plan.parts()) {
        for (const batch of batchesOf(part)) {
          // Written while the previous batch is carried out.
          const begins = this.#applying.journal().append(batch.lines);
          await begun;
          this.#refuseWhenStopped(batch, begins);
          begun = this.#carryOut(batch, begins);
          begun.catch(() => undefined);
        }
        await begun;
      }
    } finally {
      // Waits for the outcomes of the running batch, even when the next one could not be written to the journal.
      await begun.catch(() => undefined);
      await this.#pool.close();
    }
  }

  #refuseWhenStopped(batch: Batch, begins: readonly number[]): void {
    if (this.#run.isStopped) for (const [index, line] of batch.lines.entries()) this.#takeOut(begins[index], line);
    refuseWhenStopped(this.#run);
  }

  async #carryOut({ groups, lines }: Batch, begins: readonly number[]): Promise<void> {
    const requests = shares(groups, this.#pool.threads);
    const answers = await Promise.all(
      requests.map(own => this.#pool.ask((): ApplyRequest => ({ groups: own })) as Promise<Outcome[]>),
    );
    const outcomes = answers.flat();
    let isGone = false;
    for (const [index, line] of lines.entries()) {
      const outcome = outcomes[index] ?? 'changed';
      if (outcome === 'gone') isGone = true;
      if (outcome === 'done') this.#count(line);
      else this.#takeOut(begins[index], line);
      if (outcome === 'changed') this.counts.skipped_changed_during_run += 1;
      else if (outcome === 'existing') this.counts.skipped_existing_destination += 1;
      else if (typeof outcome === 'object') this.#applying.errors.add({ ...placesOf(line), error: outcome.error });
    }
    this.processed += lines.length;
    if (isGone)
      throw new Problem(503, 'The file system of a root was taken away or exchanged; nothing more was changed.', {
        code: 'unmounted',
      });
  }

  #count(line: string): void {
    this.#applying.report.add(line);
    if (line.startsWith('{"link_path"')) this.counts.changed += 1;
    else if (line.includes('"operation":"copy"')) this.counts.copied += 1;
    else this.counts.moved += 1;
  }

  #takeOut(begin: number | undefined, line: string): void {
    if (begin !== undefined) this.#applying.journal().takeOut(begin, line);
  }
}

function* batchesOf(lines: Iterable<string>): Generator<Batch> {
  let batch: Batch = { groups: [], lines: [] };
  let head: PlanHead | undefined;
  let group: string[] = [];
  for (const line of lines) {
    const found = headOf(line);
    if (found !== undefined) {
      head = found;
      group = [];
      continue;
    }
    if (head === undefined) throw new Error('a plan begins without a place');
    if (batch.lines.length >= BATCH) {
      yield batch;
      batch = { groups: [], lines: [] };
      group = [];
    }
    if (group.length === 0) batch.groups.push({ head, lines: group });
    group.push(line);
    batch.lines.push(line);
  }
  if (batch.lines.length > 0) yield batch;
}

/** Divides the groups, in order, into about `count` parts of about equal size. */
function shares(groups: readonly ApplyGroup[], count: number): ApplyGroup[][] {
  const total = groups.reduce((sum, { lines }) => sum + lines.length, 0);
  const parts: ApplyGroup[][] = [[]];
  let size = 0;
  for (const group of groups) {
    if (size >= total / count) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(group);
    size += group.lines.length;
  }
  return parts;
}

function placesOf(line: string): object {
  const { link_path, source_path, target_path } = JSON.parse(line) as Record<string, string>;
  return link_path === undefined ? { source_path, target_path } : { link_path };
}
