// The input of the repair task.

import type { RewriteRule } from '../contract.ts';
import type { MountDown } from '../places/mounts-down.ts';
import type { FileOwner } from './journal.ts';

export interface RootMigration {
  readonly from_root: string;
  readonly to_root: string;
}

export interface RepairInput {
  readonly dryRun: boolean;
  readonly includeBroken: boolean;
  readonly overwrites: boolean;
  readonly copies: boolean;
  readonly roots: readonly string[];
  readonly rules: readonly RewriteRule[];
  readonly migrations: readonly RootMigration[];
  /** The path of the undo manifest; null when none is wanted. */
  readonly backupPath: string | null;
  /** The owner of the undo manifest; null keeps it the host's. */
  readonly owner: FileOwner | null;
  readonly mountsDown: readonly MountDown[];
}
