// The messages between the host and its child process, and the interface of tasks. Tasks run in the child, where
// synchronous calls do not block the host and a call that never returns can be abandoned.
import { Problem } from '#core';
import type { Places } from '../places/path-rules.ts';

/** The tasks that tasks.ts holds. */
export type TaskName =
  | 'repair'
  | 'check-repair'
  | 'recover'
  | 'backup'
  | 'check-backup'
  | 'restore'
  | 'check-restore'
  | 'tidy-restore'
  | 'compare'
  | 'list-manifests'
  | 'find-made'
  | 'prune';

/** A message from the host to the child. */
export type ToChild =
  | {
      readonly kind: 'run';
      readonly task: TaskName;
      readonly input: unknown;
      readonly id: string;
      readonly places: Places;
      readonly answerMs: number;
    }
  | { readonly kind: 'stop' };

interface TaskFailure {
  readonly message: string;
  readonly status: number;
  readonly code: string;
}

/** A message from the child to the host. `alive` means that calls still return. */
export type FromChild =
  | { readonly kind: 'alive' }
  | { readonly kind: 'progress'; readonly progress: TaskProgress }
  /** `isUsedUp` means that threads of the child hang, so it cannot take another task. */
  | { readonly kind: 'result'; readonly result: unknown; readonly isUsedUp: boolean }
  | { readonly kind: 'failure'; readonly failure: TaskFailure; readonly isUsedUp: boolean };

/** The stages by their names on the wire. */
export type Stage = 'collecting' | 'processing' | 'writing' | 'finalizing' | 'completed';

/** Counters beside the stage; null while unknown. */
export type TaskProgress = { readonly stage: Stage } & Readonly<Record<string, number | string | null>>;

/** What a task can use. */
export interface TaskRun {
  /** The id of the job; 32 hexadecimal digits. */
  readonly id: string;
  readonly places: Places;
  /** How long a question whether a target exists may take. */
  readonly answerMs: number;
  /** Whether the host has asked the task to end soon, in order. */
  readonly isStopped: boolean;
  /** Registers a function that gives the progress for clients; it is called four times a second. */
  onProgress(progress: () => TaskProgress): void;
  /** Registers a function that gives a number which grows while the task makes progress: the beats of its threads. */
  onBeats(beats: () => number): void;
  /** Notes that threads of this process hang. */
  useUp(): void;
}

export type Task = (input: never, run: TaskRun) => Promise<unknown>;

/** Throws the Problem of a run that must end early. */
export function refuseWhenStopped({ isStopped }: Pick<TaskRun, 'isStopped'>): void {
  if (isStopped) throw new Problem(503, 'The service was stopped before the run was done.', { code: 'interrupted' });
}
