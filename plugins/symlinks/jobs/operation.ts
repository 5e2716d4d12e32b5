// An operation: the name that clients use, and the task that does the work. To add one, write a task (tasks.ts) and an
// operation for it, and pass that to `SymlinkJobs` in index.ts; routes then run it by its name.
import type { TaskName, TaskProgress } from '../tasks/task.ts';

export type OperationName = 'symlink_repair' | 'symlink_manifest_backup' | 'symlink_manifest_restore';

/** The options of a request as they were checked; clients see them as `metadata` of the job. */
export type OperationOptions = Readonly<Record<string, unknown>>;

/**
 * The task that mends what an interrupted run has left. Its result is false when it did not find the file that tells
 * what that is, which may lie on a mount that is not there yet.
 */
export interface Recovery {
  readonly task: TaskName;
  readonly input: object;
  /** Where the run has worked, for the log. */
  readonly place: string;
}

export interface Operation {
  readonly name: OperationName;
  readonly task: TaskName;
  /** The progress that clients see until the task reports its own. */
  readonly begins: Omit<TaskProgress, 'stage'>;
  /** The task that checks an order before it is queued: for the same input it throws the Problems of a bad request. */
  readonly checkTask: TaskName;
  /** Whether the task changes links with these options: only one such task runs at a time. */
  writes(options: OperationOptions): boolean;
  /** Makes the input of the task, when the task begins. Throws a Problem when it cannot begin. */
  prepare(options: OperationOptions): Promise<unknown>;
  /** The path of the journal by which a run can be undone; absent for operations without a journal. */
  journal?(options: OperationOptions, jobId: string): string;
  /** The recovery after an interrupted run; present for operations that write. */
  recovery?(options: OperationOptions, jobId: string): Recovery;
}
