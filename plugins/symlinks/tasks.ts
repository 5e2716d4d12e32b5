// The tasks that the child knows, by name.
import { recover } from './recover-task.ts';
import { checkRepair, repair } from './repair-task.ts';
import type { Task, TaskName } from './task.ts';

export const tasks: Readonly<Record<TaskName, Task>> = { repair, 'check-repair': checkRepair, recover };
