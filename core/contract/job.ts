// Background work that a plugin owns.

export interface JobHandle {
  /** Runs the job unless it is running; resolves with its result. */
  run(input?: unknown): Promise<unknown>;
}
