// The input of the tasks that restore and compare.
import type { MountDown } from '../places/mounts-down.ts';

export interface RestoreInput {
  readonly manifestPath: string;
  readonly dryRun: boolean;
  readonly overwrites: boolean;
  readonly restoreBroken: boolean;
  /** How many examples a comparison gives. */
  readonly sampleLimit: number;
  readonly mountsDown: readonly MountDown[];
}
