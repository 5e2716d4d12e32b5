// The operation that writes a snapshot of links.
import type { Host } from '#core';
import type { Operation, OperationOptions } from '../jobs/operation.ts';
import { defaultRoots } from '../places/default-roots.ts';
import { mountsDown } from '../places/mounts-down.ts';
import type { Places } from '../places/path-rules.ts';
import type { BackupInput } from './backup-input.ts';
import { type BackupOptions, checkedRoots } from './backup-request.ts';

export function backupOperation(host: Host, places: Places): Operation {
  return {
    name: 'symlink_manifest_backup',
    task: 'backup',
    checkTask: 'check-backup',
    begins: { processed_symlinks: 0, total_symlinks: null, recorded_entries: 0, errors: 0 },
    writes: () => false,
    async prepare(given: OperationOptions): Promise<BackupInput> {
      const options = given as BackupOptions;
      const { puid, pgid } = host.use('config.store').root();
      return {
        processName: options.process_name,
        backupPath: options.backup_path,
        roots: options.roots.length === 0 ? checkedRoots(defaultRoots(host), places) : options.roots,
        includeBroken: options.include_broken,
        allowEmpty: options.allow_empty,
        owner: process.geteuid?.() === 0 ? { uid: Number(puid), gid: Number(pgid) } : null,
        mountsDown: await mountsDown(host),
      };
    },
  };
}
