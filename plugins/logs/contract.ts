// What logs offers to other plugins: the files of a service's log, as far as they may be shown.

/** One file of a log, open for reading. */
export interface LogFile {
  /** The name without its directory. */
  readonly name: string;
  /** Valid in every thread until the set is closed. */
  readonly descriptor: number;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/** The present file of a log and those that it was rotated to. */
export interface LogSet {
  /** The files that were written last come first. */
  readonly files: readonly LogFile[];
  /** How many files belong to the log, whether or not they are open here. */
  readonly discovered: number;
  close(): Promise<void>;
}

/** Logs of services, found as `GET /logs` finds them. */
export interface ServiceLogs {
  /**
   * Opens at most 30 files that were written since a time in milliseconds. null when the service has no log. Throws a
   * Problem 404 for an unknown process, 403 for a log that may not lie where its block says.
   */
  openSet(processName: string, sinceMs: number): Promise<LogSet | null>;
}

declare module '#core' {
  interface Services {
    /** The files of the logs of services, for plugins that read more than a page of them. */
    'log.files': ServiceLogs;
  }
}
