// What an operation is: the name that clients know, and the task that does its work. To add one, write a task
// (tasks.ts), an operation for it, and hand that to `SymlinkJobs` in index.ts; routes then run it by its name.
import type { TaskName, TaskProgress } from '../tasks/task.ts';

export type OperationName = 'symlink_repair' | 'symlink_manifest_backup' | 'symlink_manifest_restore';

/** The options of a request as they were checked; clients see them as `metadata` of the job. */
export type OperationOptions = Readonly<Record<string, unknown>>;

/** What puts in order what a run that was cut off has left. */
export interface Recovery {
  readonly task: TaskName;
  readonly input: object;
  /** For the log. */
  readonly place: string;
}

export interface Operation {
  readonly name: OperationName;
  readonly task: TaskName;
  /** What clients are shown until the task tells of itself. */
  readonly begins: Omit<TaskProgress, 'stage'>;
  /** The task that throws the Problems of `task` which are told before it is queued, with the same input. */
  readonly checkTask: TaskName;
  /** Whether it changes links with these options, so that it must be the only one that does. */
  writes(options: OperationOptions): boolean;
  /** What the task is given, made when it begins. Throws a Problem when it cannot begin. */
  prepare(options: OperationOptions): Promise<unknown>;
  /** Where it keeps what undoes a run that is cut off; undefined for one that keeps nothing. */
  journal?(options: OperationOptions, jobId: string): string;
  /** Of one that writes. */
  recovery?(options: OperationOptions, jobId: string): Recovery;
}
