// The input of the backup task.

import type { MountDown } from '../places/mounts-down.ts';
import type { FileOwner } from '../repair/journal.ts';

export interface BackupInput {
  readonly processName: string | null;
  readonly backupPath: string;
  readonly roots: readonly string[];
  readonly includeBroken: boolean;
  readonly allowEmpty: boolean;
  /** The owner of the manifest and of directories that are created for it; null keeps them the host's. */
  readonly owner: FileOwner | null;
  readonly mountsDown: readonly MountDown[];
}
