// What the plugin offers to others: presets of rules for the repair of links, and its events.
export interface RewriteRule {
  readonly from_prefix: string;
  readonly to_prefix: string;
}

/** Rules that a repair takes by their name, contributed by whoever knows why targets change; the key is the name. */
export interface SymlinkPreset {
  /** In the order in which they are tried. */
  readonly rules: readonly RewriteRule[];
}

export interface SymlinkJobEvent {
  /** Under which the job is filed: a process, or what it works on. */
  readonly processName: string;
  readonly jobId: string;
  readonly operation: string;
  /** A sentence for people. */
  readonly message: string;
  readonly isScheduled: boolean;
}

declare module '#core' {
  interface Contributions {
    /** Rules that a repair of links takes by their name. */
    'symlink.preset': SymlinkPreset;
  }
  interface Events {
    /** A job with symlinks is done. One that a schedule has begun is not told. */
    'symlink.job.succeeded': SymlinkJobEvent;
    /** A job with symlinks has failed, or was cut off. */
    'symlink.job.failed': SymlinkJobEvent;
  }
}
