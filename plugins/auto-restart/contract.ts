// What auto-restart tells others: the counters of each process, and its events.

/** Counters and plans of one process. */
export interface RestartReport {
  readonly attempts: number;
  readonly successes: number;
  readonly failures: number;
  /** Attempts inside the window. */
  readonly recentAttempts: number;
  readonly pending: boolean;
  /** Unix seconds. */
  readonly nextAt: number | null;
  /** Unix seconds of the last recovery that was seen. */
  readonly lastAt: number | null;
  readonly lastFailureReason: string | null;
  readonly unhealthyCount: number;
  readonly unhealthyThreshold: number;
  readonly awaitingRecovery: boolean;
}

export interface ProcessRestarts {
  report(processName: string): RestartReport;
}

declare module '#core' {
  interface Services {
    /** Counters and plans of restarts. */
    'process.restarts': ProcessRestarts;
  }
  interface Events {
    /** A watched process was unhealthy as often as its threshold says. */
    'service.unhealthy': { readonly processName: string; readonly reason: string; readonly threshold: number };
    /** Right before a restart. `attempt`: its number inside the window. */
    'service.auto_restart.attempt': { readonly processName: string; readonly reason: string; readonly attempt: number };
    /** The first healthy answer after a restart. */
    'service.auto_restart.succeeded': { readonly processName: string };
    /** A restarted process did not start, or did not recover. */
    'service.auto_restart.failed': { readonly processName: string; readonly reason: string };
    /** The limit of restarts within the window is reached; once for each episode. */
    'service.auto_restart.suppressed': { readonly processName: string; readonly reason: string };
  }
}
