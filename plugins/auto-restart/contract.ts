// What auto-restart offers to other plugins: the counters of each process, and its events.

/** Restart counters of one process and its next planned restart. */
export interface RestartReport {
  readonly attempts: number;
  readonly successes: number;
  readonly failures: number;
  /** Number of attempts within the window. */
  readonly recentAttempts: number;
  readonly pending: boolean;
  /** Unix seconds of the next planned restart; null when none is planned. */
  readonly nextAt: number | null;
  /** Unix seconds of the last confirmed recovery. */
  readonly lastAt: number | null;
  readonly lastFailureReason: string | null;
  readonly unhealthyCount: number;
  readonly unhealthyThreshold: number;
  readonly awaitingRecovery: boolean;
}

export interface ProcessRestarts {
  report(processName: string): RestartReport;
  /**
   * Plans a restart of a running process, with the pauses and the limit of its own policy, or of the section where it
   * has none. Does nothing while one is planned or under way. At the limit nothing is planned for a process that runs:
   * ask again as long as it needs a restart.
   */
  restart(processName: string, reason: string): void;
}

declare module '#core' {
  interface Services {
    /** Restart counters and planned restarts of all processes. */
    'process.restarts': ProcessRestarts;
  }
  interface Events {
    /** A watched process was unhealthy as often in a row as its threshold says. */
    'service.unhealthy': { readonly processName: string; readonly reason: string; readonly threshold: number };
    /** A restart is about to be made; `attempt` is its number within the window. */
    'service.auto_restart.attempt': { readonly processName: string; readonly reason: string; readonly attempt: number };
    /** A process was healthy for the first time after a restart. */
    'service.auto_restart.succeeded': { readonly processName: string };
    /** A restarted process did not start, or did not recover. */
    'service.auto_restart.failed': { readonly processName: string; readonly reason: string };
    /** The limit of restarts within the window is reached; emitted once for each episode. */
    'service.auto_restart.suppressed': { readonly processName: string; readonly reason: string };
  }
}
