// The body of a request for a snapshot, the options with checked paths that are made of it, and the answer.
import { z } from 'zod';
import { Problem } from '#core';
import { checkedManifestPath } from '../manifest/manifest-path.ts';
import { checkedPath, type Places } from '../places/path-rules.ts';

const MAX_ROOTS = 200;
const count = z.int().nonnegative();

export const backupBody = z.lazy(() =>
  z.object({
    process_name: z.string().nullish(),
    backup_path: z.string(),
    roots: z.array(z.string()).max(MAX_ROOTS).nullish(),
    include_broken: z.boolean().nullish(),
    allow_empty: z.boolean().nullish(),
  }),
);

/** The options of a backup, as its job shows them. A type, so that it is also a record. */
export type BackupOptions = {
  readonly process_name: string | null;
  readonly backup_path: string;
  /** Empty for the default roots. */
  readonly roots: readonly string[];
  readonly include_broken: boolean;
  readonly allow_empty: boolean;
};

export const backupAnswer = z.lazy(() =>
  z.object({
    backup_manifest: z.string(),
    roots: z.array(z.string()),
    missing_roots: z.array(z.string()),
    scanned_symlinks: count,
    recorded_entries: count,
    skipped_broken: count,
    errors: z.array(z.object({ link_path: z.string(), error: z.string() })),
    errors_total: count,
  }),
);

export type BackupResult = z.output<typeof backupAnswer>;

/** The checked options, without a look at the disk. Throws a Problem 400 that says what to change. */
export function backupOptions(body: z.output<typeof backupBody>, places: Places): BackupOptions {
  const backupPath = body.backup_path.trim();
  if (backupPath === '') throw new Problem(400, 'backup_path is blank; give the path of the manifest to write.');
  return {
    process_name: body.process_name?.trim() || null,
    backup_path: checkedManifestPath(backupPath, 'backup_path', places),
    roots: checkedRoots(body.roots ?? [], places),
    include_broken: body.include_broken ?? true,
    allow_empty: body.allow_empty ?? false,
  };
}

/** The roots without blank ones and repetitions. Throws a Problem 400 for a root that may not be used. */
export function checkedRoots(roots: readonly string[], places: Places): string[] {
  const named = roots.map(root => root.trim()).filter(root => root !== '');
  return [...new Set(named.map(root => checkedPath(root, `The root ${root}`, places)))];
}
