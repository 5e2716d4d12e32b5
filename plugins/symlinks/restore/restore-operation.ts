// The operation that restores a manifest.
import type { Host } from '#core';
import type { Operation, OperationOptions } from '../jobs/operation.ts';
import { mountsDown } from '../places/mounts-down.ts';
import type { RestoreInput } from './restore-input.ts';
import type { RestoreOptions } from './restore-request.ts';

export function restoreOperation(host: Host): Operation {
  return {
    name: 'symlink_manifest_restore',
    task: 'restore',
    checkTask: 'check-restore',
    begins: {
      processed_entries: 0,
      total_entries: null,
      processed_items: 0,
      total_items: null,
      restored: 0,
      errors: 0,
    },
    writes: options => !(options as RestoreOptions).dry_run,
    async prepare(given: OperationOptions): Promise<RestoreInput> {
      const options = given as RestoreOptions;
      return {
        manifestPath: options.manifest_path,
        dryRun: options.dry_run,
        overwrites: options.overwrite_existing,
        restoreBroken: options.restore_broken,
        sampleLimit: 0,
        mountsDown: await mountsDown(host),
      };
    },
    recovery(given) {
      const { manifest_path: manifestPath } = given as RestoreOptions;
      return { task: 'tidy-restore', input: { manifestPath }, place: `the directories of ${manifestPath}` };
    },
  };
}
