// What the host and its child say to each other, and what a task gets. A task is one piece of work in the child, where
// synchronous calls stall nobody and a call that never returns can be abandoned.
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
  | 'prune';

/** From the host to the child. */
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

/** From the child to the host. `alive` says that calls still return. */
export type FromChild =
  | { readonly kind: 'alive' }
  | { readonly kind: 'progress'; readonly progress: TaskProgress }
  /** `isUsedUp`: threads of the child hang, so that it cannot take another task. */
  | { readonly kind: 'result'; readonly result: unknown; readonly isUsedUp: boolean }
  | { readonly kind: 'failure'; readonly failure: TaskFailure; readonly isUsedUp: boolean };

/** The stages as clients know them. */
export type Stage = 'collecting' | 'processing' | 'writing' | 'finalizing' | 'completed';

/** Counters beside the stage; null while unknown. */
export type TaskProgress = { readonly stage: Stage } & Readonly<Record<string, number | string | null>>;

/** What a task can use. */
export interface TaskRun {
  /** Of the job; 32 hexadecimal digits. */
  readonly id: string;
  readonly places: Places;
  /** How long a question whether a target exists may take. */
  readonly answerMs: number;
  /** Whether the host wants the task to end soon, in order. */
  readonly isStopped: boolean;
  /** Called four times a second; gives what clients are shown. */
  onProgress(progress: () => TaskProgress): void;
  /** What grows while the task gets on, besides its progress: beats of threads. */
  onBeats(beats: () => number): void;
  /** Says that threads of this process hang. */
  useUp(): void;
}

export type Task = (input: never, run: TaskRun) => Promise<unknown>;

/** Throws the Problem of a run that must end early. */
export function refuseWhenStopped({ isStopped }: Pick<TaskRun, 'isStopped'>): void {
  if (isStopped) throw new Problem(503, 'The service was stopped before the run was done.', { code: 'interrupted' });
}
