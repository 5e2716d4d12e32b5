// The task of a repair: makes a plan, and carries it out unless it is a dry run.
import { Problem } from '#core';
import { errorText } from '#kit/error-text';
import { timeOf } from '../manifest/time-stamp.ts';
import { rawOf, shownPath } from '../places/raw-path.ts';
import { realPlace } from '../places/real-places.ts';
import type { CappedList } from '../tasks/capped-list.ts';
import type { Stage, TaskProgress, TaskRun } from '../tasks/task.ts';
import { Journal, partial } from './journal.ts';
import { PlanFile } from './plan-file.ts';
import { RepairApply } from './repair-apply.ts';
import type { RepairInput } from './repair-input.ts';
import { RepairPlan } from './repair-plan.ts';
import { Report } from './report.ts';
import { journalPlace } from './run-journal.ts';

type Counts = Pick<RepairPlan['counts'], 'changed' | 'moved' | 'copied'>;

/** Throws a Problem when the repair could not begin. */
export async function checkRepair(input: RepairInput, run: TaskRun): Promise<null> {
  new RepairPlan(input, run);
  return null;
}

export async function repair(input: RepairInput, run: TaskRun): Promise<unknown> {
  const begunAt = performance.now();
  const plan = new RepairPlan(input, run);
  const report = new Report(run.places, run.id);
  const outcome = input.dryRun ? await preview(plan, report, run) : await carryOut(input, plan, report, run);
  const { counts, errors, roots } = plan;
  const reportPath = report.finish();
  if (report.fault !== null) errors.add(report.fault);
  const { changes, moves } = report;
  return {
    dry_run: input.dryRun,
    roots: input.rules.length === 0 ? [] : input.roots,
    missing_roots: roots.missing,
    root_migrations: input.migrations,
    missing_migration_roots: plan.missingMigrations,
    rules: input.rules,
    scanned_symlinks: plan.scanned,
    ...counts,
    skipped_changed_during_run: 0,
    ...outcome,
    errors: errors.elements,
    changes: changes.elements,
    moves: moves.elements,
    errors_total: errors.total,
    changes_total: changes.total,
    moves_total: moves.total,
    truncated: errors.isCut || changes.isCut || moves.isCut,
    report_path: reportPath,
    duration_ms: Math.round(performance.now() - begunAt),
  };
}

async function preview(plan: RepairPlan, report: Report, run: TaskRun): Promise<object> {
  run.onProgress(() => progressOf('collecting', plan, plan.links, null));
  await plan.make(
    (lines, changes) => report.addAll(lines, changes),
    () => undefined,
  );
  run.onProgress(() => progressOf('completed', plan, plan.links, plan.links));
  return { backup_manifest: null };
}

async function carryOut(input: RepairInput, plan: RepairPlan, report: Report, run: TaskRun): Promise<object> {
  run.onProgress(() => progressOf('collecting', plan, plan.links, null));
  const file = new PlanFile(run.places, run.id);
  try {
    await plan.make(
      lines => file.write(lines),
      () => file.endPart(),
    );
    const place = realPlace(rawOf(journalPlace(input.backupPath, run.places, run.id)));
    let journal: Journal | undefined;
    const open = (): Journal => (journal ??= Journal.create(place, headerOf(input, plan), input.owner));
    const { changed, moved, copied, skipped_existing_destination: existing } = plan.counts;
    const total = changed + moved + copied;
    const apply = new RepairApply(
      { plan: file, journal: open, report, errors: plan.errors, overwrites: input.overwrites },
      run,
    );
    const shown = (stage: Stage) => () =>
      progressOf(stage, { counts: apply.counts, errors: plan.errors }, apply.processed, total);
    run.onProgress(shown('processing'));
    const done = (): number => apply.counts.changed + apply.counts.moved + apply.counts.copied;
    let isKept = true;
    try {
      await apply.carryOut();
      isKept = input.backupPath !== null;
    } catch (error) {
      throw done() === 0 ? error : withUndo(error, done(), shownPath(place));
    } finally {
      run.onProgress(shown('finalizing'));
      // Frees the space of the plan, which the journal may need to be finished.
      file.close();
      if (done() === 0 || !isKept) journal?.discard();
      else if (journal !== undefined) end(journal, done(), shownPath(partial(place)));
    }
    const { counts } = apply;
    const wasWritten = done() > 0 && input.backupPath !== null;
    return {
      ...counts,
      skipped_existing_destination: existing + counts.skipped_existing_destination,
      backup_manifest: wasWritten ? shownPath(place) : null,
    };
  } finally {
    file.close();
  }
}

/** Finishes the journal. Throws a Problem 503 when that fails: the journal then stays as it is for the next start. */
function end(journal: Journal, done: number, place: string): void {
  try {
    journal.finish();
  } catch (error) {
    throw new Problem(
      503,
      `${done} links were changed, moved or copied. What undoes it is in ${place}, whose end cannot be written: ` +
        `${errorText(error)}; once it can, start Stackwarden again, which makes a manifest of it.`,
      { cause: error, code: 'unfinished' },
    );
  }
}

/** A Problem with the same message, extended by how to undo the changes that were made before. */
function withUndo(error: unknown, done: number, place: string): Problem {
  const { status, code } = error instanceof Problem ? error : { status: 500, code: undefined };
  const told = `${(error as Error).message} Before that ${done} links were changed, moved or copied; ${place} undoes it.`;
  return new Problem(status, told, { cause: error, ...(code !== undefined && { code }) });
}

function headerOf(input: RepairInput, plan: RepairPlan): object {
  return {
    manifest_type: 'symlink_repair',
    created_at: timeOf(new Date()),
    roots: input.roots,
    walked_roots: plan.roots.walked.map(({ real }) => shownPath(real)),
    root_migrations: input.migrations,
    rules: input.rules,
  };
}

function progressOf(
  stage: Stage,
  { counts, errors }: { readonly counts: Counts; readonly errors: CappedList },
  processed: number,
  total: number | null,
): TaskProgress {
  const { changed, moved, copied } = counts;
  return { stage, processed_items: processed, total_items: total, changed, moved, copied, errors: errors.total };
}
