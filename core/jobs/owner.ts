// Whose work a timer or a job is: it runs as its owner's, and the owner is told of its faults.

export interface Owner {
  /** Aborts when the owner is disposed of. */
  readonly signal: AbortSignal;
  run<Value>(fn: () => Value): Value;
  fault(place: 'timer' | 'job', error: unknown): void;
}
