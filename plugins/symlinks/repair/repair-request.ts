// The body of a request to repair links, and the checked options that are made of it.
import { z } from 'zod';
import { type ContributionList, Problem } from '#core';
import type { RewriteRule, SymlinkPreset } from '../contract.ts';
import { checkedManifestPath } from '../manifest/manifest-path.ts';
import { checkedPath, isAtOrBelow, type Places, rootNamed } from '../places/path-rules.ts';
import type { RootMigration } from './repair-input.ts';
import { withoutSlashes } from './rewrite-rules.ts';

const MAX_RULES = 100;
const MAX_MIGRATIONS = 20;
const MAX_ROOTS = 200;
/** The limit of the options, because the record of a job contains them. */
const MAX_BYTES = 60_000;

const flag = z.boolean().nullish();

export const repairBody = z.lazy(() =>
  z.object({
    process_name: z.string().nullish(),
    dry_run: flag,
    include_broken: flag,
    presets: z.array(z.string()).nullish(),
    roots: z.array(z.string()).max(MAX_ROOTS).nullish(),
    rewrite_rules: z
      .array(z.object({ from_prefix: z.string(), to_prefix: z.string() }))
      .max(MAX_RULES)
      .nullish(),
    root_migrations: z
      .array(z.object({ from_root: z.string(), to_root: z.string() }))
      .max(MAX_MIGRATIONS)
      .nullish(),
    overwrite_existing: flag,
    copy_instead_of_move: flag,
    backup_path: z.string().nullish(),
  }),
);

/** The options of a repair, as its job shows them. A type, so that it is also a record. */
export type RepairOptions = {
  readonly process_name: string | null;
  readonly dry_run: boolean;
  readonly include_broken: boolean;
  readonly presets: readonly string[];
  /** Empty for the default roots. */
  readonly roots: readonly string[];
  /** The rules of the presets, then those of the request. */
  readonly rewrite_rules: readonly RewriteRule[];
  readonly root_migrations: readonly RootMigration[];
  readonly overwrite_existing: boolean;
  readonly copy_instead_of_move: boolean;
  readonly backup_path: string | null;
};

/** The checked options, without a look at the disk. Throws a Problem 400 that says what to change. */
export function repairOptions(
  body: z.output<typeof repairBody>,
  known: ContributionList<SymlinkPreset>,
  places: Places,
): RepairOptions {
  const presets = trimmed(body.presets);
  const rules = [...presets.flatMap(name => rulesOf(name, known)), ...(body.rewrite_rules ?? []).flatMap(usableRule)];
  const migrations = (body.root_migrations ?? []).flatMap(migration => usableMigration(migration, places));
  if (rules.length === 0 && migrations.length === 0)
    throw new Problem(400, 'Give at least one of presets, rewrite_rules and root_migrations.');
  const backupPath = body.backup_path?.trim() ?? '';
  const options = {
    process_name: body.process_name?.trim() || null,
    dry_run: body.dry_run ?? true,
    include_broken: body.include_broken ?? true,
    presets,
    roots: [...new Set(trimmed(body.roots).map(root => checkedPath(root, rootNamed(root), places)))],
    rewrite_rules: rules,
    root_migrations: migrations,
    overwrite_existing: body.overwrite_existing ?? false,
    copy_instead_of_move: body.copy_instead_of_move ?? false,
    backup_path: backupPath === '' ? null : checkedManifestPath(backupPath, 'backup_path', places),
  };
  if (Buffer.byteLength(JSON.stringify(options)) > MAX_BYTES)
    throw new Problem(400, `The request is longer than ${MAX_BYTES} bytes; use fewer roots and rules in each.`);
  return options;
}

function rulesOf(name: string, known: ContributionList<SymlinkPreset>): readonly RewriteRule[] {
  const preset = known.get(name);
  if (preset !== undefined) return preset.value.rules;
  const names = [...known].map(({ key }) => key);
  throw new Problem(
    400,
    `There is no preset ${name}; ${names.length === 0 ? 'none is' : `${names.join(', ')} are`} known.`,
  );
}

function usableRule({ from_prefix, to_prefix }: RewriteRule): RewriteRule[] {
  const [from, to] = [from_prefix.trim(), to_prefix.trim()];
  if (from === '' || to === '') return [];
  if (withoutSlashes(from) === '')
    throw new Problem(400, 'from_prefix must not be /; name the directory that targets begin with.');
  for (const prefix of [from, to])
    if (prefix.includes('\0')) throw new Problem(400, 'A prefix contains a NUL character; remove it.');
  return [{ from_prefix: from, to_prefix: to }];
}

function usableMigration({ from_root, to_root }: RootMigration, places: Places): RootMigration[] {
  const [from, to] = [from_root.trim(), to_root.trim()];
  if (from === '' || to === '') return [];
  const roots = {
    from_root: checkedPath(from, rootNamed(from), places),
    to_root: checkedPath(to, rootNamed(to), places),
  };
  if (isAtOrBelow(roots.from_root, roots.to_root) || isAtOrBelow(roots.to_root, roots.from_root))
    throw new Problem(400, `${to} and ${from} lie in each other; choose separate roots.`);
  return [roots];
}

function trimmed(texts: readonly string[] | null | undefined): string[] {
  return (texts ?? []).map(text => text.trim()).filter(text => text !== '');
}
