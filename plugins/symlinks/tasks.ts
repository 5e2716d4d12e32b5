// The tasks of the child process, by name.
import { backup, checkBackup } from './backup/backup-task.ts';
import { recover } from './repair/recover-task.ts';
import { checkRepair, repair } from './repair/repair-task.ts';
import { checkRestore, compare, restore } from './restore/restore-task.ts';
import { tidyRestore } from './restore/tidy-task.ts';
import { listManifests } from './schedule/list-task.ts';
import { findMade } from './schedule/made-task.ts';
import { prune } from './schedule/prune-task.ts';
import type { Task, TaskName } from './tasks/task.ts';

export const tasks: Readonly<Record<TaskName, Task>> = {
  repair,
  'check-repair': checkRepair,
  recover,
  backup,
  'check-backup': checkBackup,
  restore,
  'check-restore': checkRestore,
  'tidy-restore': tidyRestore,
  compare,
  'list-manifests': listManifests,
  'find-made': findMade,
  prune,
};
