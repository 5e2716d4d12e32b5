// What the task of a repair is given.

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
  /** null when nobody asked for an undo manifest. */
  readonly backupPath: string | null;
  /** Of what is written for the user; null keeps it the host's. */
  readonly owner: FileOwner | null;
  readonly mountsDown: readonly MountDown[];
}
