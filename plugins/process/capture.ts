// Output capture: each process writes to its append-only spool file; this reads the spools and writes service logs.
// The invariant: every complete line of a spool stands exactly once in its service log, whatever kills the host.

export interface CaptureTarget {
  readonly processName: string;
  readonly spoolFile: string;
  /** The service's own log, when the backend owns it; null: none. */
  readonly logFile: string | null;
  /** Lowest level that goes to `logFile`. */
  readonly logLevel: string;
  /** true: output does not go to the own log and its stream. */
  readonly suppressed: boolean;
  /** Owner of `logFile`, or null to keep the controller's. */
  readonly owner: { uid: number; gid: number } | null;
}

export interface CaptureSession {
  /** The last error-looking lines since the launch, redacted; best first. */
  bestErrorLine(): string | null;
  /** Consumes what the spool holds, at most `timeoutMs`, then ends; the spool file is removed. */
  finish(timeoutMs: number): Promise<void>;
  /** Ends without consuming: the spool stays for the next host to go on from. */
  handOver(): Promise<void>;
  retarget(target: Pick<CaptureTarget, 'logFile' | 'logLevel' | 'suppressed' | 'owner'>): void;
  readonly position: number;
}
