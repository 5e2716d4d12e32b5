// The operation that repairs links.
import type { Host } from '#core';
import type { Operation, OperationOptions } from '../jobs/operation.ts';
import { defaultRoots } from '../places/default-roots.ts';
import { mountsDown } from '../places/mounts-down.ts';
import { checkedPath, type Places, rootNamed } from '../places/path-rules.ts';
import type { RepairInput } from './repair-input.ts';
import type { RepairOptions } from './repair-request.ts';
import { journalPlace } from './run-journal.ts';

export function repairOperation(host: Host, places: Places): Operation {
  const journalOf = (options: OperationOptions, jobId: string): string =>
    journalPlace((options as RepairOptions).backup_path, places, jobId);
  return {
    name: 'symlink_repair',
    task: 'repair',
    checkTask: 'check-repair',
    begins: { processed_items: 0, total_items: null, changed: 0, moved: 0, copied: 0, errors: 0 },
    writes: options => !(options as RepairOptions).dry_run,
    async prepare(given: OperationOptions): Promise<RepairInput> {
      const options = given as RepairOptions;
      const { puid, pgid } = host.use('config.store').root();
      // Migrations alone walk no roots, so a default root that is refused does not keep them from being made.
      const defaults = (): string[] =>
        options.rewrite_rules.length === 0
          ? []
          : [...new Set(defaultRoots(host).map(root => checkedPath(root, rootNamed(root), places)))];
      return {
        dryRun: options.dry_run,
        includeBroken: options.include_broken,
        overwrites: options.overwrite_existing,
        copies: options.copy_instead_of_move,
        roots: options.roots.length === 0 ? defaults() : options.roots,
        rules: options.rewrite_rules,
        migrations: options.root_migrations,
        backupPath: options.backup_path,
        owner: process.geteuid?.() === 0 ? { uid: Number(puid), gid: Number(pgid) } : null,
        mountsDown: await mountsDown(host),
      };
    },
    journal: journalOf,
    recovery(options, jobId) {
      const journal = journalOf(options, jobId);
      return { task: 'recover', input: { journal }, place: `${journal}.partial` };
    },
  };
}
