// Whose work a timer or a job is: it runs as its owner's, and the owner is told of its faults.
import type { Logger } from '../contract/log.ts';

export interface Owner {
  /** The plugin's name. */
  readonly plugin: string;
  readonly log: Logger;
  /** Aborts when the owner is disposed of. */
  readonly signal: AbortSignal;
  run<Value>(fn: () => Value): Value;
  fault(place: 'timer' | 'job', error: unknown): void;
}
