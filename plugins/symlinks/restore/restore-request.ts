// The requests to restore and to compare a manifest, the checked options that are made of them, and the answers.
import { z } from 'zod';
import { queryBoolean, queryInteger } from '#kit/query-values';
import { manifestPathOf } from '../manifest/manifest-path.ts';
import type { Places } from '../places/path-rules.ts';

const DEFAULT_SAMPLES = 50;
const MAX_SAMPLES = 200;
const count = z.int().nonnegative();
const errors = z.lazy(() => z.array(z.object({ link_path: z.string(), error: z.string() })));

export const restoreBody = z.lazy(() =>
  z.object({
    process_name: z.string().nullish(),
    manifest_path: z.string(),
    dry_run: z.boolean().nullish(),
    overwrite_existing: z.boolean().nullish(),
    restore_broken: z.boolean().nullish(),
  }),
);

export const compareQuery = z.object({
  manifest_path: z.string(),
  overwrite_existing: queryBoolean().default(false),
  restore_broken: queryBoolean().default(true),
  sample_limit: queryInteger({ min: 0, max: MAX_SAMPLES }).default(DEFAULT_SAMPLES),
});

/** The options of a restore, as its job shows them. A type, so that it is also a record. */
export type RestoreOptions = {
  readonly process_name: string | null;
  readonly manifest_path: string;
  readonly dry_run: boolean;
  readonly overwrite_existing: boolean;
  readonly restore_broken: boolean;
};

export const restoreAnswer = z.lazy(() =>
  z.object({
    manifest_path: z.string(),
    manifest_created_at: z.string().nullable(),
    manifest_type: z.enum(['symlink_snapshot', 'symlink_repair']),
    dry_run: z.boolean(),
    overwrite_existing: z.boolean(),
    restore_broken: z.boolean(),
    total_entries: count,
    restored: count,
    skipped_existing: count,
    skipped_unchanged: count,
    skipped_invalid_entries: count,
    skipped_nonexistent_target: count,
    replaced_files: count,
    errors,
    errors_total: count,
  }),
);

export const compareAnswer = z.lazy(() =>
  z.object({
    manifest_path: z.string(),
    manifest_created_at: z.string().nullable(),
    overwrite_existing: z.boolean(),
    restore_broken: z.boolean(),
    sample_limit: count,
    total_entries: count,
    projected_restored: count,
    projected_skipped_existing: count,
    projected_skipped_unchanged: count,
    projected_skipped_invalid_entries: count,
    projected_skipped_nonexistent_target: count,
    projected_errors: count,
    sample_changes: z.array(
      z.object({
        action: z.enum(['create', 'overwrite', 'skip_unchanged', 'skip_existing', 'skip_missing_target']),
        link_path: z.string(),
        target: z.string().nullable(),
        current_target: z.string().nullable().optional(),
        raw_base64: z.record(z.string(), z.string()).optional(),
      }),
    ),
    errors,
  }),
);

export type RestoreResult = z.output<typeof restoreAnswer>;
export type CompareResult = z.output<typeof compareAnswer>;

/** The checked options, without a look at the disk. Throws a Problem 400 that says what to change. */
export function restoreOptions(body: z.output<typeof restoreBody>, places: Places): RestoreOptions {
  return {
    process_name: body.process_name?.trim() || null,
    manifest_path: manifestPathOf(body.manifest_path, places),
    dry_run: body.dry_run ?? true,
    overwrite_existing: body.overwrite_existing ?? false,
    restore_broken: body.restore_broken ?? true,
  };
}
