// The schema of the answer to a repair.
import { z } from 'zod';

const count = z.int().nonnegative();
const texts = z.array(z.string());

export const repairAnswer = z.lazy(() =>
  z.looseObject({
    dry_run: z.boolean(),
    roots: texts,
    missing_roots: texts,
    root_migrations: z.array(z.object({ from_root: z.string(), to_root: z.string() })),
    missing_migration_roots: texts,
    rules: z.array(z.object({ from_prefix: z.string(), to_prefix: z.string() })),
    scanned_symlinks: count,
    changed: count,
    moved: count,
    copied: count,
    skipped_unchanged: count,
    skipped_nonexistent_target: count,
    skipped_existing_destination: count,
    skipped_changed_during_run: count,
    errors: z.array(
      z.looseObject({
        link_path: z.string().optional(),
        source_path: z.string().optional(),
        target_path: z.string().optional(),
        error: z.string(),
      }),
    ),
    changes: z.array(z.looseObject({ link_path: z.string(), old_target: z.string(), new_target: z.string() })),
    moves: z.array(
      z.looseObject({ source_path: z.string(), target_path: z.string(), operation: z.enum(['move', 'copy']) }),
    ),
    errors_total: count,
    changes_total: count,
    moves_total: count,
    truncated: z.boolean(),
    report_path: z.string().nullable(),
    backup_manifest: z.string().nullable(),
    duration_ms: z.int().nonnegative(),
  }),
);
