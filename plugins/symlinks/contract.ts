// What the plugin offers to others: a point for presets of repair rules, and the events of jobs.
export interface RewriteRule {
  readonly from_prefix: string;
  readonly to_prefix: string;
}

/** A named set of rules for repairs, contributed by a plugin that knows why targets change; the key is its name. */
export interface SymlinkPreset {
  /** In the order in which they are tried. */
  readonly rules: readonly RewriteRule[];
}

export interface SymlinkJobEvent {
  /** The name under which the job is filed: that of a process, or a fixed one such as `symlink-repair`. */
  readonly processName: string;
  readonly jobId: string;
  readonly operation: string;
  /** A sentence for people. */
  readonly message: string;
  readonly isScheduled: boolean;
}

declare module '#core' {
  interface Contributions {
    /** A named set of rules for repairs of links. */
    'symlink.preset': SymlinkPreset;
  }
  interface Events {
    /** A symlink job has succeeded. Not emitted for jobs of a schedule. */
    'symlink.job.succeeded': SymlinkJobEvent;
    /** A symlink job has failed or was interrupted. */
    'symlink.job.failed': SymlinkJobEvent;
  }
}
